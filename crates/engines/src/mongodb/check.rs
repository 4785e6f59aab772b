//! MongoDB's own check.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::answer::{Document, Value};
use super::bson::Writer;
use super::session::Session;
use super::{NAME, failed};
use crate::{Checked, EngineError, Result};

/// Bytes allocated for a command.
const SMALL: usize = 128;

/// Part of the server's message about a file that something else had open, for example its own
/// checkpoint. The file was not checked, and can be checked a moment later.
const IN_USE: &str = "transient issue";

/// How long a file may be in use.
const WITHIN: Duration = Duration::from_secs(10);

/// Interval between two attempts.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Validates every collection and its indexes, with each file also checked by the storage engine
/// (<https://www.mongodb.com/docs/v6.0/reference/command/validate/>).
pub(super) fn validate(session: &mut Session) -> Result<Checked> {
    let mut checked = Checked::new("validate, full: true");
    for name in collections(session)? {
        let until = Instant::now() + WITHIN;
        let found = loop {
            let found = validate_one(session, &name)?;
            if Instant::now() > until || !found.iter().any(|found| found.contains(IN_USE)) {
                break found;
            }
            sleep(AGAIN_AFTER);
            // If only an administrator can request a checkpoint, the server's own is waited for.
            let _ = session.admin("fsync", |_| {});
        };
        found.into_iter().for_each(|found| checked.found(found));
    }
    Ok(checked)
}

/// Returns what is wrong with a collection.
fn validate_one(session: &mut Session, name: &str) -> Result<Vec<String>> {
    let doing = || format!("validate `{name}`");
    let mut command = Writer::new(SMALL);
    command.text("validate", name);
    command.bool("full", true);
    let answer = command.finish().and_then(|command| session.run(command));
    let answer = answer.map_err(|e| failed(doing(), &e))?;
    let mut found = match answer.get("valid") {
        Some(Value::Boolean(true)) => Vec::new(),
        Some(Value::Boolean(false)) => vec![format!("{name}: not valid")],
        _ => return Err(EngineError::failed(NAME, doing(), format!("it answered {answer}"))),
    };
    for list in ["errors", "warnings"] {
        let said = answer.get(list).and_then(Value::as_list).into_iter().flatten();
        let said = said.map_while(std::result::Result::ok);
        found.extend(said.map(|(_, said)| format!("{name}: {list}: {said}")));
    }
    Ok(found)
}

fn collections(session: &mut Session) -> Result<Vec<String>> {
    let (mut names, mut list) = (Vec::new(), Writer::new(SMALL));
    list.int32("listCollections", 1);
    list.bool("nameOnly", true);
    let mut see = |collection: Document<'_>| {
        names.extend(collection.text("name").map(str::to_owned));
        Ok(())
    };
    let doing = || "list its collections".to_owned();
    session.stream(&mut list, "$cmd.listCollections", 100, &mut see, doing)?;
    Ok(names)
}
