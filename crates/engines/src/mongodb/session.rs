//! A connection to a server, with one database.

use std::ffi::{CStr, CString};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::answer::{Document, Value};
use super::bson::Writer;
use super::client::Client;
use super::failure::{Answer, Failure};
use super::library::LIBRARY;
use super::uri::Uri;
use super::{NAME, failed};
use crate::server::address::{self, Address};
use crate::{EngineError, OpenOptions, Result};

/// The server's own database.
const ADMIN: &CStr = c"admin";

/// Bytes allocated for a command without documents.
pub(super) const SMALL: usize = 128;

/// First version with clustered collections.
const CLUSTERS_SINCE: [i64; 2] = [5, 3];

/// How long operations of a killed client may take to end.
const UNDER_WAY: Duration = Duration::from_secs(30);

/// A database of a server, for one thread at a time.
pub(super) struct Session {
    client: Client,
    pub uri: Uri,
    name: CString,
    /// Whether the server is a given one, where the database is dropped at the end.
    pub is_given: bool,
    /// The server's address for another process.
    for_others: Address,
}

impl Session {
    /// Creates a session with the database `name`, on a new connection, once a server has answered
    /// and accepted a request.
    pub fn new(uri: Uri, name: &str, for_others: Address) -> Answer<Self> {
        let name = CString::new(name).map_err(|_| Failure::new("a database's name holds a NUL"))?;
        let client = Client::connect(&uri)?;
        let mut session = Self { client, uri, name, is_given: false, for_others };
        session.ask(|command| command.int32("ping", 1))?;
        Ok(session)
    }

    /// Connects to a given server, and uses only one database, which MongoDB creates with its first
    /// collection, and which is dropped with the session.
    pub fn given(url: &str, options: &OpenOptions) -> Result<Self> {
        let mut session = Self::reach(url, &options.guest)?;
        session.remove().map(|()| session)
    }

    /// Connects to a given server, and drops the database `name` at the end.
    pub fn reach(url: &str, name: &str) -> Result<Self> {
        let address = Address::Url(url.to_owned());
        let uri = Uri::new(LIBRARY.get()?, &address).map_err(|why| {
            let wanted = "give it as mongodb://user:password@host:port/?authSource=admin";
            EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
        })?;
        let doing = format!("connect to {}", uri.place);
        let mut session = Self::new(uri, name, address).map_err(|failure| {
            let advice = "is it running, and may this user read and write any database there?";
            EngineError::failed(NAME, doing, format!("{failure}; {advice}"))
        })?;
        session.is_given = true;
        Ok(session)
    }

    /// Creates a session with a database that another process has opened, and that is not dropped.
    pub fn join(at: &str) -> Result<Self> {
        let [name, address] = address::parts(NAME, at)?;
        let address = Address::from(address);
        let joined = Uri::new(LIBRARY.get()?, &address).map_err(Failure::new);
        let joined = joined.and_then(|uri| Self::new(uri, name, address));
        joined.map_err(|e| failed("join a database", &e))
    }

    /// Returns the address of the database for another process.
    pub fn at(&self) -> String {
        format!("{} {}", self.name.to_string_lossy(), self.for_others)
    }

    /// Returns the parameters for a program in another language.
    pub fn connection(&self) -> [(&'static str, String); 2] {
        [self.for_others.parameter(), ("database", self.name.to_string_lossy().into_owned())]
    }

    /// Makes a new connection, with a driver that knows nothing of the server. It is made before
    /// the old one ends.
    pub fn renew(&mut self) -> Result<()> {
        let fresh = Client::connect(&self.uri);
        self.client = fresh.map_err(|e| failed("connect again", &e))?;
        Ok(())
    }

    /// Runs a command on the database, and returns the answer.
    ///
    /// # Errors
    /// Returns the error of the server or the driver. A failed write is not an error here: its
    /// answer reports it.
    pub fn run(&mut self, command: &[u8]) -> Answer<Document<'_>> {
        self.client.run(&self.name, command)
    }

    /// Runs a command without documents, which `write` writes, with the same errors.
    pub fn ask(&mut self, write: impl FnOnce(&mut Writer)) -> Answer<Document<'_>> {
        let mut command = Writer::new(SMALL);
        write(&mut command);
        self.run(command.finish()?)
    }

    /// Runs a command that changes documents, and returns the number that the server counted.
    ///
    /// # Errors
    /// Returns the error of the server or the driver, also if the write was refused.
    pub fn write(&mut self, command: &[u8]) -> Answer<u64> {
        let answer = self.run(command)?;
        if let Some(refused) = Failure::of_write(answer) {
            return Err(refused);
        }
        let count = answer.integer("n").and_then(|n| u64::try_from(n).ok());
        count.ok_or_else(|| Failure::new(format!("it answered {answer}")))
    }

    /// Runs a command on the database `admin`, which has nothing of the workload. `rest` writes
    /// what follows the command's name.
    pub fn admin(&mut self, name: &str, rest: impl FnOnce(&mut Writer)) -> Result<Document<'_>> {
        let mut command = Writer::new(SMALL);
        command.int32(name, 1);
        rest(&mut command);
        let done = command.finish().and_then(|command| self.client.run(ADMIN, command));
        done.map_err(|e| failed(format!("run `{name}`"), &e))
    }

    /// Returns whether the server can store documents in the order of their `_id`, instead of an
    /// index that points to them (<https://www.mongodb.com/docs/v6.0/core/clustered-collections/>).
    pub fn clusters(&mut self) -> Result<bool> {
        let build = self.admin("buildInfo", |_| {})?;
        let version = build.get("versionArray").and_then(Value::as_list);
        let numbers = version.into_iter().flatten().map_while(|number| number.ok()?.1.as_integer());
        Ok(numbers.take(CLUSTERS_SINCE.len()).ge(CLUSTERS_SINCE))
    }

    /// Runs a command that returns documents of a collection, and passes them to `visit` one by
    /// one. After the first ones the server sends `batch` at a time. `doing` is for errors.
    pub fn stream(
        &mut self,
        command: &mut Writer,
        collection: &str,
        batch: i32,
        visit: &mut dyn FnMut(Document<'_>) -> Result<()>,
        doing: impl Fn() -> String,
    ) -> Result<()> {
        let fail = |failure: Failure| failed(doing(), &failure);
        let mut part = "firstBatch";
        loop {
            let answer = command.finish().and_then(|command| self.run(command)).map_err(fail)?;
            let cursor = answer.get("cursor").and_then(Value::as_document);
            let documents = cursor.and_then(|cursor| cursor.get(part)).and_then(Value::as_list);
            let none = || fail(Failure::new("it answered without a cursor or its batch"));
            let mut documents = documents.ok_or_else(none)?.into_iter();
            // 0 if there are no more.
            let id = cursor.and_then(|cursor| cursor.integer("id")).unwrap_or(0);
            let visited = documents.try_for_each(|element| {
                let document = element.map_err(fail)?.1.as_document();
                visit(document.ok_or_else(|| fail(Failure::new("it answered with no document")))?)
            });
            if id == 0 {
                return visited;
            }
            if visited.is_err() {
                // Otherwise the server would forget the cursor after ten minutes, so a failure is
                // not an error.
                command.clear();
                command.text("killCursors", collection);
                command.list("cursors", |cursors| cursors.int64("0", id));
                let _ = command.finish().and_then(|command| self.run(command));
                return visited;
            }
            part = "nextBatch";
            command.clear();
            command.int64("getMore", id);
            command.text("collection", collection);
            command.int32("batchSize", batch);
        }
    }

    /// Drops what a killed client has left of the database, once none of its operations is running:
    /// a running write would create its collection again.
    pub fn remove(&mut self) -> Result<()> {
        let name = self.name.to_string_lossy().into_owned();
        let began = Instant::now();
        while began.elapsed() < UNDER_WAY {
            let under_way = self.admin("currentOp", |command| {
                command.bool("$ownOps", true);
                command.within("ns", |of| of.text("$regex", &format!("^{name}\\.")));
            })?;
            let all = under_way.get("inprog").and_then(Value::as_list);
            if all.is_none_or(|all| all.into_iter().next().is_none()) {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        self.drop_database()
    }

    fn drop_database(&mut self) -> Result<()> {
        let dropped = self.ask(|command| command.int32("dropDatabase", 1)).map(|_| ());
        let doing = || format!("drop the database `{}`", self.name.to_string_lossy());
        dropped.map_err(|e| failed(doing(), &e))
    }

    /// Drops the database on a given server, once.
    pub fn end(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_given) { self.drop_database() } else { Ok(()) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported earlier, and this one cannot be
        // reported.
        let _ = self.end();
    }
}
