//! A connection to a server, and the database of ours on it.

use mongodb::bson::{Document, RawDocument};
use mongodb::options::{
    ClientOptions, RunCursorCommandOptions, ServerAddress, ServerMonitoringMode,
};
use mongodb::{Client, Cursor, Database};
use tokio::runtime::{Builder, Runtime};

use std::time::Duration;

use super::bson::Writer;
use super::{NAME, failed, message};
use crate::server::address::{self, Address};
use crate::{EngineError, Result};

/// How long a server may take to be found.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// The driver, and the runtime that it is driven on: of one thread, which is the caller's own
/// while a command runs. On the driver's synchronous interface, whose runtime has threads of its
/// own, every answer wakes one of those first and then the caller.
pub(super) struct Session {
    /// None once the database is dropped.
    database: Option<Database>,
    is_given: bool,
    options: ClientOptions,
    name: String,
    /// Where another process reaches the server.
    elsewhere: Address,
    runtime: Runtime,
}

/// Options for one server that is spoken to by one thread.
pub(super) fn for_one(mut options: ClientOptions) -> ClientOptions {
    options.app_name = Some("embermark".to_owned());
    // A write is tried once: a retry would hide what happened, and a lone server has none.
    options.retry_writes = Some(false);
    options.retry_reads = Some(false);
    options.max_pool_size = Some(1);
    options.min_pool_size = None;
    // Asked now and then whether it is still there, instead of a second connection held open by the
    // server. Nothing of it happens in the middle of a trial.
    options.server_monitoring_mode = Some(ServerMonitoringMode::Poll);
    options.heartbeat_freq = Some(Duration::from_secs(3600));
    options.connect_timeout.get_or_insert(CONNECT_WITHIN);
    options.server_selection_timeout.get_or_insert(CONNECT_WITHIN);
    options
}

/// Options for the server of an URL.
///
/// # Errors
/// When it is none.
pub(super) fn of_url(runtime: &Runtime, url: &str) -> mongodb::error::Result<ClientOptions> {
    runtime.block_on(async { ClientOptions::parse(url).await }).map(for_one)
}

/// Options for a lone server, which has to be found within a time.
pub(super) fn of_host(host: ServerAddress, within: Duration) -> ClientOptions {
    let options = ClientOptions::builder().hosts(vec![host]).direct_connection(true);
    for_one(options.server_selection_timeout(within).build())
}

/// A runtime on the caller's own thread.
pub(super) fn runtime() -> Result<Runtime> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| EngineError::failed(NAME, "start the driver's runtime", e))
}

impl Session {
    /// A session with the database `name`. Nothing is sent yet.
    ///
    /// # Errors
    /// When the driver refuses the options.
    pub fn new(
        runtime: Runtime,
        options: ClientOptions,
        name: &str,
        elsewhere: Address,
        is_given: bool,
    ) -> mongodb::error::Result<Self> {
        // The driver starts its tasks on the runtime that it finds itself in.
        let client = {
            let _inside = runtime.enter();
            Client::with_options(options.clone())?
        };
        let database = Some(client.database(name));
        Ok(Self { database, is_given, options, name: name.to_owned(), elsewhere, runtime })
    }

    /// A session with a database that another process has opened, which stays when it ends.
    ///
    /// # Errors
    /// When the server is not reached.
    pub fn join(at: &str) -> Result<Self> {
        let [name, address] = address::parts(NAME, at)?;
        let could_not = |e| failed("join a database", &e);
        let runtime = runtime()?;
        let address = Address::from(address);
        let options = match &address {
            Address::Socket(path) => {
                of_host(ServerAddress::Unix { path: path.clone() }, CONNECT_WITHIN)
            }
            Address::Url(url) => of_url(&runtime, url).map_err(could_not)?,
        };
        let session = Self::new(runtime, options, name, address, false).map_err(could_not)?;
        let mut ping = Writer::new(32);
        ping.int32("ping", 1);
        session.run(ping).map_err(could_not)?;
        Ok(session)
    }

    /// How another process reaches the database.
    pub fn at(&self) -> String {
        format!("{} {}", self.name, self.elsewhere)
    }

    /// Ends the connection and begins anew: a driver that knows nothing of the server, which it
    /// finds with the first command.
    ///
    /// # Errors
    /// When the driver refuses the options.
    pub fn renew(&mut self) -> Result<()> {
        let (options, elsewhere) = (self.options.clone(), self.elsewhere.clone());
        let fresh = Self::new(runtime()?, options, &self.name, elsewhere, self.is_given);
        let mut old = std::mem::replace(self, fresh.map_err(|e| failed("connect again", &e))?);
        // The database stays.
        old.is_given = false;
        old.end()
    }

    /// Whether the server is not ours.
    pub fn is_given(&self) -> bool {
        self.is_given
    }

    /// Runs a command on our database, and gives the answer.
    ///
    /// # Errors
    /// What the driver says; a failed write is none, its answer says so.
    pub fn run(&self, command: Writer) -> mongodb::error::Result<Document> {
        let command = command.finish()?;
        let database = self.database()?;
        self.runtime.block_on(async { database.run_raw_command(command).await })
    }

    /// Runs a command on the database `admin`, which has no name of ours in it.
    ///
    /// # Errors
    /// The server's message.
    pub fn admin(&self, command: Document) -> Result<Document> {
        let doing = format!("run `{command}`");
        let run = || {
            let admin = self.database()?.client().database("admin");
            self.runtime.block_on(async { admin.run_command(command).await })
        };
        run().map_err(|e| failed(doing, &e))
    }

    /// Runs a command that answers with documents, which `visit` is given one by one.
    ///
    /// # Errors
    /// What went wrong, on which side.
    pub fn stream(
        &self,
        command: Writer,
        batch: u32,
        visit: &mut dyn FnMut(&RawDocument) -> Result<()>,
    ) -> std::result::Result<(), Stopped> {
        let command = command.finish()?;
        let database = self.database()?;
        self.runtime.block_on(async {
            let options = RunCursorCommandOptions::builder().batch_size(batch).build();
            let cursor = database.run_raw_cursor_command(command).with_options(options);
            let mut cursor: Cursor<Document> = cursor.await?;
            while cursor.advance().await? {
                visit(cursor.current()).map_err(Stopped::Visitor)?;
            }
            Ok(())
        })
    }

    /// Drops the database where the server is not ours; then nothing more can be run.
    ///
    /// # Errors
    /// The server's message.
    pub fn end(&mut self) -> Result<()> {
        let Some(database) = self.database.take() else { return Ok(()) };
        let ended = if self.is_given {
            let dropped = self.runtime.block_on(async { database.drop().await });
            dropped.map_err(|e| failed(format!("drop the database `{}`", database.name()), &e))
        } else {
            Ok(())
        };
        // Dropped on the runtime: what it still has to say is said there, and ends with it.
        let _inside = self.runtime.enter();
        drop(database);
        ended
    }

    fn database(&self) -> mongodb::error::Result<&Database> {
        let ended = || mongodb::error::Error::custom("the session has ended");
        self.database.as_ref().ok_or_else(ended)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close` an error was reported before; there is nobody left to tell.
        let _ = self.end();
    }
}

/// Why an answer was not read to its end.
pub(super) enum Stopped {
    Driver(mongodb::error::Error),
    Visitor(EngineError),
}

impl Stopped {
    /// As an error; `doing` says what was being done.
    pub fn while_doing(self, doing: impl FnOnce() -> String) -> EngineError {
        match self {
            Self::Driver(error) => EngineError::failed(NAME, doing(), message(&error)),
            Self::Visitor(error) => error,
        }
    }
}

impl From<mongodb::error::Error> for Stopped {
    fn from(error: mongodb::error::Error) -> Self {
        Self::Driver(error)
    }
}
