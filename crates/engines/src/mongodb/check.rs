//! MongoDB's own check.

use super::answer::{Document, Value};
use super::bson::Writer;
use super::session::Session;
use super::{NAME, failed};
use crate::{Checked, EngineError, Result};

/// Room for a command.
const SMALL: usize = 128;

/// Validates every collection and its indexes, each file by the storage engine too
/// (<https://www.mongodb.com/docs/v6.0/reference/command/validate/>).
pub(super) fn validate(session: &mut Session) -> Result<Checked> {
    let mut checked = Checked::by("validate, full: true");
    for name in collections(session)? {
        let doing = || format!("validate `{name}`");
        let mut command = Writer::new(SMALL);
        command.text("validate", &name);
        command.bool("full", true);
        let answer = command.finish().and_then(|command| session.run(command));
        let answer = answer.map_err(|e| failed(doing(), &e))?;
        match answer.get("valid") {
            Some(Value::Boolean(true)) => {}
            Some(Value::Boolean(false)) => checked.found(format!("{name}: not valid")),
            _ => return Err(EngineError::failed(NAME, doing(), format!("it answered {answer}"))),
        }
        // A warning may say that a file was in use and not looked at.
        for list in ["errors", "warnings"] {
            let said = answer.get(list).and_then(Value::as_list).into_iter().flatten();
            let said = said.map_while(std::result::Result::ok);
            said.for_each(|(_, said)| checked.found(format!("{name}: {list}: {said}")));
        }
    }
    Ok(checked)
}

/// The collections of the database.
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
