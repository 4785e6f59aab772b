//! A connection to a server, and our keys on it.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::NAME;
use super::resp::{Answer, Connection, Failure};
use super::uri::Uri;
use crate::server::address::{self, Address};
use crate::{ConnectionParameters, EngineError, OpenOptions, Result};

/// Stands for an empty prefix in what another process is given.
const NONE: &str = "-";

/// Number of keys that are looked at and removed at a time.
const AT_A_TIME: &[u8] = b"1000";

/// How long a command that a killed client has sent may take to finish.
const UNDER_WAY: Duration = Duration::from_secs(30);

/// A client of a server, for one thread at a time.
pub(super) struct Session {
    pub connection: Connection,
    uri: Uri,
    /// The beginning of all our keys: `NAME:` on a server that is not ours, empty on one that is.
    pub prefix: String,
    /// Whether the keys are removed at the end.
    pub is_given: bool,
    /// The address at which another process reaches the server.
    for_others: Address,
}

impl Session {
    /// Opens a session on a connection of its own, once the server has answered and let us ask.
    pub fn new(uri: Uri, prefix: String, for_others: Address) -> Answer<Self> {
        let connection = connected(&uri, &prefix)?;
        Ok(Self { connection, uri, prefix, is_given: false, for_others })
    }

    /// Connects to a given server. All keys begin with a guest's name, and are removed with the
    /// session. Nothing else on the server is touched.
    pub fn given(url: &str, options: &OpenOptions) -> Result<Self> {
        let mut session = Self::reach(url, &options.guest)?;
        session.remove().map_err(failed("remove what a killed client left"))?;
        session.is_given = true;
        Ok(session)
    }

    /// Connects to a given server, for keys that begin with this name.
    pub fn reach(url: &str, name: &str) -> Result<Self> {
        let address = Address::Url(url.to_owned());
        let uri = Uri::new(&address).map_err(|why| {
            let wanted = "give it as valkey://user:password@host:6379/0, of which the host will do";
            EngineError::failed(NAME, "read its URL", format!("{why}; {wanted}"))
        })?;
        let doing = format!("connect to {}", uri.place);
        Self::new(uri, format!("{name}:"), address).map_err(|failure| {
            let advice = "is it running, and is its password in the URL?";
            EngineError::failed(NAME, doing, format!("{failure}; {advice}"))
        })
    }

    /// Opens a session on the keys that another process has opened; they stay when it ends.
    pub fn join(at: &str) -> Result<Self> {
        let [prefix, address] = address::parts(NAME, at)?;
        let prefix = if prefix == NONE { "" } else { prefix };
        let address = Address::from(address);
        let uri = Uri::new(&address).map_err(Failure::Unexpected);
        let joined = uri.and_then(|uri| Self::new(uri, prefix.to_owned(), address));
        joined.map_err(failed("join a database"))
    }

    /// Returns how another process reaches the keys.
    pub fn at(&self) -> String {
        let prefix = if self.prefix.is_empty() { NONE } else { &self.prefix };
        format!("{prefix} {}", self.for_others)
    }

    /// Returns the parameters by which a program in another language reaches the keys.
    pub fn connection(&self) -> ConnectionParameters {
        vec![self.for_others.parameter(), ("prefix", self.prefix.clone())]
    }

    /// Replaces the connection by a new one, which is made before the old one ends.
    pub fn renew(&mut self) -> Result<()> {
        let fresh = connected(&self.uri, &self.prefix);
        self.connection = fresh.map_err(failed("connect again"))?;
        Ok(())
    }

    /// Returns what the server reports under a heading (<https://valkey.io/commands/info/>): one
    /// line `name:value` for each item.
    pub fn info(&mut self, heading: &str) -> Answer<String> {
        self.connection.ask(&[b"INFO", heading.as_bytes()]).send()?;
        self.connection.text()
    }

    /// Returns the names and values of the settings with these names
    /// (<https://valkey.io/commands/config-get/>).
    pub fn config(&mut self, names: &[&str]) -> Answer<Vec<(String, String)>> {
        let connection = &mut self.connection;
        connection.command(names.len() + 2, "CONFIG");
        connection.word(&[b"GET"]);
        names.iter().for_each(|name| connection.word(&[name.as_bytes()]));
        connection.send()?;
        let pairs = connection.list()? / 2;
        (0..pairs).map(|_| Ok((connection.text()?, connection.text()?))).collect()
    }

    /// Removes the keys, once no killed client can still create one. The server lists such a client
    /// by the prefix.
    pub fn remove(&mut self) -> Answer<()> {
        let began = Instant::now();
        let named = format!(" name={} ", self.prefix.trim_end_matches(':'));
        loop {
            self.connection.ask(&[b"CLIENT", b"LIST"]).send()?;
            let clients = self.connection.text()?;
            let others = clients.lines().filter(|line| line.contains(&named)).count();
            if others <= 1 || began.elapsed() > UNDER_WAY {
                break;
            }
            sleep(Duration::from_millis(20));
        }
        self.remove_keys()
    }

    fn remove_keys(&mut self) -> Answer<()> {
        let (connection, pattern) = (&mut self.connection, format!("{}*", self.prefix));
        let (mut cursor, mut keys) = ("0".to_owned(), Vec::new());
        loop {
            let (from, matching) = (cursor.as_bytes(), pattern.as_bytes());
            connection.ask(&[b"SCAN", from, b"MATCH", matching, b"COUNT", AT_A_TIME]).send()?;
            connection.list()?;
            cursor = connection.text()?;
            keys.clear();
            for _ in 0..connection.list()? {
                keys.push(connection.bulk()?.unwrap_or_default().to_vec());
            }
            if !keys.is_empty() {
                connection.command(keys.len() + 1, "UNLINK");
                keys.iter().for_each(|key| connection.word(&[key]));
                connection.send()?;
                connection.skip()?;
            }
            if cursor == "0" {
                return Ok(());
            }
        }
    }

    /// Removes the keys once, if the server is not ours.
    pub fn end(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_given) {
            self.remove_keys().map_err(failed("remove its keys"))?;
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without `close`, an error was reported earlier, and this one cannot be reported.
        let _ = self.end();
    }
}

/// Connects to the database of a URL, under the name that belongs to the prefix.
fn connected(uri: &Uri, prefix: &str) -> Answer<Connection> {
    let mut connection = Connection::open(&uri.place)?;
    if let Some(password) = &uri.password {
        connection.command(2 + usize::from(uri.user.is_some()), "AUTH");
        uri.user.iter().for_each(|user| connection.word(&[user.as_bytes()]));
        connection.word(&[password.as_bytes()]);
        connection.send()?;
        connection.done()?;
    }
    connection.ask(&[b"PING"]);
    connection.ask(&[b"SELECT", uri.database.to_string().as_bytes()]);
    connection.ask(&[b"CLIENT", b"SETNAME", prefix.trim_end_matches(':').as_bytes()]).send()?;
    (0..3).try_for_each(|_| connection.done())?;
    Ok(connection)
}

/// Makes the error of a command. A data set larger than the server's memory is not a failure of the
/// server.
pub(super) fn failed(doing: &str) -> impl FnOnce(Failure) -> EngineError {
    move |failure| match &failure {
        Failure::Refused(why) if why.contains("OOM") => {
            let what = format!(
                "more data than its memory, where all of them are ({why}): raise --memory-limit, of \
                 which half is its maxmemory"
            );
            EngineError::unsupported(NAME, what)
        }
        _ => EngineError::failed(NAME, doing, failure),
    }
}
