//! Settings, checkpoints, clients, and the end of a store.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::super::answer::{Document, Value};
use super::super::bson::Writer;
use super::super::pipeline::Pipelines;
use super::super::session::{SMALL, Session};
use super::super::{NAME, failed, settings};
use super::MongoStore;
use crate::server::{self, Server};
use crate::{
    Background, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits,
    Result, Store,
};

/// Part of the server's message about a file that something else had open, for example its own
/// checkpoint. The file was not checked, and can be checked a moment later.
const IN_USE: &str = "transient issue";

/// How long a file may be in use.
const WITHIN: Duration = Duration::from_secs(10);

/// Interval between two attempts.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

impl Lifecycle for MongoStore {
    fn limits(&self) -> Limits {
        Limits {
            // The 64th is the key's.
            indexes: Some(63),
            key_columns: Some(32),
            manual: "https://www.mongodb.com/docs/manual/reference/limits/#indexes",
            ..Limits::default()
        }
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        settings::of_tier(&mut self.session, self.waits)
    }

    /// Takes a checkpoint (<https://www.mongodb.com/docs/v6.0/reference/command/fsync/>). MongoDB
    /// has no statistics for its planner, which tries plans instead.
    fn maintain(&mut self) -> Result<()> {
        let done = self.session.admin("fsync", |_| {}).map(|_| ());
        // On a given server only an administrator may do this, so it is not required there.
        if self.server.is_some() { done } else { Ok(()) }
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let concern = self.waits.map(|waits| format!(r#"{{"w": 1, "j": {waits}}}"#));
        let [server, database] = self.session.connection();
        Ok(vec![server, database, ("writeConcern", concern.unwrap_or_default())])
    }

    fn reconnect(&mut self) -> Option<Result<()>> {
        self.pipelines = Pipelines::default();
        Some(self.session.renew())
    }

    fn crash_on_close(&mut self) -> Result<()> {
        Err(server::no_log(NAME))
    }

    fn check(&mut self) -> Result<Checked> {
        // Changes without a checkpoint would keep the storage engine from verifying its files.
        self.maintain()?;
        validate(&mut self.session)
    }

    /// Reads `serverStatus` of the storage engine
    /// (<https://www.mongodb.com/docs/v6.0/reference/command/serverStatus/#wiredtiger>). Adds
    /// nothing if the user may not ask for it.
    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        let status = match self.session.admin("serverStatus", |_| {}) {
            Ok(status) => status,
            Err(_) if self.server.is_none() => return Ok(()),
            Err(error) => return Err(error),
        };
        // The names of version 6, and of later versions.
        let value = |paths: [&str; 2]| {
            let found = paths.into_iter().find_map(|path| status.at(path)?.as_integer());
            found.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
        };
        let running = value([
            "wiredTiger.transaction.transaction checkpoint currently running",
            "wiredTiger.checkpoint.progress state",
        ]);
        let checkpoints = value([
            "wiredTiger.transaction.transaction checkpoints",
            "wiredTiger.checkpoint.number of checkpoints started by api",
        ]);
        let evicted = value([
            "wiredTiger.cache.pages evicted by application threads",
            "wiredTiger.cache.application threads page write from cache to disk count",
        ]);
        into.push(Background::state("checkpoint running", running));
        into.push(Background::count("checkpoints", checkpoints));
        into.push(Background::count("pages evicted by clients' threads", evicted));
        Ok(())
    }

    fn join(&self) -> Join {
        Join::At(self.session.at())
    }

    /// Opens another connection, made on its thread.
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (at, waits) = (self.session.at(), self.waits);
        Ok(ClientOpener::new(move || {
            let store = Self::new(Session::join(&at)?, None, waits);
            Ok(Store::Document(Box::new(store)))
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut session, server, .. } = *self;
        let ended = session.end();
        drop(session);
        server.map_or(Ok(()), Server::stop).and(ended)
    }
}

/// Validates every collection and its indexes, with each file also checked by the storage engine
/// (<https://www.mongodb.com/docs/v6.0/reference/command/validate/>).
fn validate(session: &mut Session) -> Result<Checked> {
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
    let answer = session.ask(|command| {
        command.text("validate", name);
        command.bool("full", true);
    });
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
