//! PostgreSQL's own check, the extension amcheck
//! (<https://www.postgresql.org/docs/18/amcheck.html>).

use super::NAME;
use super::session::Session;
use crate::{Checked, EngineError, Result};

/// SQLSTATEs of damaged data and of a damaged index
/// (<https://www.postgresql.org/docs/18/errcodes-appendix.html>).
const DAMAGED: [&str; 2] = ["XX001", "XX002"];

/// Checks every table including its separately stored long values, and every B-tree, which must
/// have each row of its table.
pub(super) fn tables(session: &mut Session) -> Result<Checked> {
    let schema = extension(session)?;
    let mut checked = Checked::new("amcheck: verify_heapam, bt_index_parent_check");
    // Since version 14.
    if session.connection.server_version() >= 140_000 {
        for table in session.tables()? {
            let sql = format!(
                "SELECT format('{table}: block %s, item %s, attribute %s: %s', blkno, offnum, \
                 attnum, msg) FROM {schema}.verify_heapam('{table}', check_toast => true)"
            );
            ask(session, &sql, &mut checked)?;
        }
    }
    let trees = "SELECT format('%I', c.relname) FROM pg_index i \
                 JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam \
                 WHERE a.amname = 'btree' AND c.relnamespace = current_schema()::regnamespace";
    for tree in session.ask(trees)?.values() {
        let sql = format!("SELECT {schema}.bt_index_parent_check('{tree}', true)");
        ask(session, &sql, &mut checked)?;
    }
    Ok(checked)
}

/// Returns the schema of the extension, which is created on a private server.
fn extension(session: &mut Session) -> Result<String> {
    let missing = |why: &str| EngineError::unsupported(NAME, format!("a check: amcheck {why}"));
    let sql = "SELECT FROM pg_available_extensions WHERE name = 'amcheck'";
    let offered = session.ask_if_known(sql)?;
    if offered.ok_or_else(|| missing("is not known to this server"))?.rows() == 0 {
        return Err(missing("is not installed: apt-get install postgresql-contrib"));
    }
    if !session.is_given() {
        session.ask("CREATE EXTENSION IF NOT EXISTS amcheck")?;
    }
    let sql = "SELECT format('%I', n.nspname) FROM pg_extension e \
               JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'amcheck'";
    let schema = session.ask(sql)?.values().next();
    schema.ok_or_else(|| missing("is not in that database: CREATE EXTENSION amcheck"))
}

/// Adds the result of a query, or the damage at which it stopped.
fn ask(session: &mut Session, sql: &str, checked: &mut Checked) -> Result<()> {
    match session.connection.run(sql) {
        Ok(answer) => answer.values().for_each(|said| checked.found(said)),
        Err(error) if error.is_of(&DAMAGED) => checked.found(error.message),
        Err(error) => return Err(error.while_doing(format!("run `{sql}`"))),
    }
    Ok(())
}
