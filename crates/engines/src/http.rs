//! The HTTP client of engines that speak HTTP: one connection, kept open.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use embermark_model::ServerUrl;
use percent_encoding::percent_decode_str;
use ureq::config::Config;
use ureq::http::Response;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Agent, Body, Error, RequestBuilder};

use crate::EngineError;
use crate::server::address::{self, Address};

/// The engine's error, unless stated otherwise.
type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Placeholder for a missing user and password.
const NO_USER: &str = "-";

/// Maximum number of bytes of an error's body that are shown.
const MAX_ERROR_BODY: u64 = 2_000;

/// A client for one database of one server.
pub(crate) struct HttpClient {
    engine: &'static str,
    agent: Agent,
    pub address: Address,
    /// Media type to ask for with every request, if any.
    pub accept: Option<&'static str>,
    /// The user as `name:password`, if any, and the header of each request.
    pub user: Option<String>,
    pub authorization: Option<String>,
    pub database: String,
    /// Text that another process passes to [`join`](Self::join) to connect to the database.
    pub join_address: String,
}

impl HttpClient {
    /// Creates a client for a database. `user` is `name:password`, encoded as in a URL. Another
    /// process connects to the server at `for_others`. Nothing is sent.
    pub fn new(
        engine: &'static str,
        database: &str,
        user: Option<&str>,
        address: &Address,
        for_others: &Address,
    ) -> Self {
        // Encoded as HTTP requires: RFC 7617.
        let decoded = |user| Some(percent_decode_str(user).decode_utf8().ok()?.into_owned());
        let (plain, user) = (user.and_then(decoded), user.unwrap_or(NO_USER));
        let basic = |plain| format!("Basic {}", BASE64_STANDARD.encode(plain));
        Self {
            engine,
            agent: agent(address),
            address: address.clone(),
            accept: None,
            authorization: plain.as_ref().map(basic),
            user: plain,
            database: database.to_owned(),
            join_address: format!("{database} {user} {for_others}"),
        }
    }

    /// Creates a client for a database that another process has opened.
    pub fn join(engine: &'static str, at: &str) -> Result<Self> {
        let [database, user, address] = address::parts(engine, at)?;
        let (user, address) = (Some(user).filter(|user| *user != NO_USER), Address::from(address));
        Ok(Self::new(engine, database, user, &address, &address))
    }

    /// Creates a client for a database of the server at a URL.
    ///
    /// # Errors
    /// Returns what is wrong with the URL, without quoting it.
    pub fn from_url(engine: &'static str, url: &str, database: &str) -> Result<Self, String> {
        let parts = ServerUrl::from(url).parts(engine)?;
        let address = Address::Url(format!("http://{}", parts.address()));
        Ok(Self::new(engine, database, parts.credentials(), &address, &address))
    }

    /// Closes the connection. The next request opens a new one.
    pub fn reconnect(&mut self) {
        self.agent = agent(&self.address);
    }

    /// Gets a path, which begins with `/` and is encoded as in a URL.
    ///
    /// # Errors
    /// Fails when the server cannot be reached, or with its message when the status is not one of
    /// success.
    #[cfg(feature = "influxdb")]
    pub fn get(&self, path: &str) -> Result<Body> {
        self.answer("GET", path, self.headers(self.agent.get(self.url(path))).call())
    }

    /// Posts a body to such a path, with the same errors.
    pub fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Result<Body> {
        let request = self.headers(self.agent.post(self.url(path)));
        self.answer("POST", path, request.header("content-type", content_type).send(body))
    }

    /// Deletes such a path, with the same errors, unless there is nothing at it (status 404).
    #[cfg(feature = "influxdb")]
    pub fn delete(&self, path: &str) -> Result<()> {
        match self.headers(self.agent.delete(self.url(path))).call() {
            Ok(answer) if answer.status() == 404 => Ok(()),
            answer => discard(self.engine, self.answer("DELETE", path, answer)?),
        }
    }

    /// Puts a body at such a path, with the same errors.
    #[cfg(feature = "harperdb")]
    pub fn put(&self, path: &str, content_type: &str, body: &[u8]) -> Result<Body> {
        let request = self.headers(self.agent.put(self.url(path)));
        self.answer("PUT", path, request.header("content-type", content_type).send(body))
    }

    fn url(&self, path: &str) -> String {
        match &self.address {
            // Resolved without a lookup, and not used.
            Address::Socket(_) => format!("http://127.0.0.1{path}"),
            Address::Url(base) => format!("{base}{path}"),
        }
    }

    fn headers<B>(&self, mut request: RequestBuilder<B>) -> RequestBuilder<B> {
        for (name, value) in
            [("accept", self.accept), ("authorization", self.authorization.as_deref())]
        {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    fn answer(
        &self,
        method: &str,
        path: &str,
        answer: Result<Response<Body>, Error>,
    ) -> Result<Body> {
        let route = path.split('?').next().unwrap_or(path);
        let failed =
            |why: String| EngineError::failed(self.engine, format!("answer {method} {route}"), why);
        let (parts, body) = answer.map_err(|error| failed(error.to_string()))?.into_parts();
        // Redirects are not followed.
        if parts.status.is_success() {
            return Ok(body);
        }
        // InfluxDB also has the message here, as plain text whatever the encoding of its body.
        if let Some(Ok(words)) = parts.headers.get("x-influxdb-error").map(|h| h.to_str()) {
            return Err(failed(format!("{}: {words}", parts.status)));
        }
        let mut text = Vec::new();
        // If reading fails, the error shows the part that was read.
        let _ = reader(body).take(MAX_ERROR_BODY).read_to_end(&mut text);
        Err(failed(format!("{}: {}", parts.status, String::from_utf8_lossy(&text).trim())))
    }
}

/// Reads an answer of any length as it arrives.
pub(crate) fn reader(body: Body) -> impl Read {
    body.into_with_config().limit(u64::MAX).reader()
}

/// Reads and drops an answer, so that the connection can be used again.
pub(crate) fn discard(engine: &'static str, body: Body) -> Result<()> {
    let read = std::io::copy(&mut reader(body), &mut std::io::sink());
    read.map(drop).map_err(|error| EngineError::failed(engine, "end its answer", error))
}

/// Returns an agent that sends requests to a Unix socket, or to the host in their URL.
fn agent(address: &Address) -> Agent {
    match address {
        Address::Socket(socket) => {
            Agent::with_parts(config(), Unix(socket.clone()), DefaultResolver::default())
        }
        Address::Url(_) => Agent::new_with_config(config()),
    }
}

fn config() -> Config {
    Agent::config_builder()
        .http_status_as_error(false)
        .user_agent("embermark")
        .accept("")
        .max_redirects(0)
        .max_idle_connections(1)
        .max_idle_age(Duration::from_secs(24 * 3600))
        .proxy(None)
        .build()
}

/// Connects to a socket, whatever the URL is.
#[derive(Debug)]
struct Unix(PathBuf);

impl Connector for Unix {
    type Out = UnixTransport;

    fn connect(
        &self,
        details: &ConnectionDetails,
        _: Option<()>,
    ) -> Result<Option<UnixTransport>, Error> {
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        Ok(Some(UnixTransport { stream: UnixStream::connect(&self.0)?, buffers }))
    }
}

/// A connection. Requests have no time-outs, because the phase's cap and the trial's limit apply.
#[derive(Debug)]
struct UnixTransport {
    stream: UnixStream,
    buffers: LazyBuffers,
}

impl Transport for UnixTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), Error> {
        Ok(self.stream.write_all(&self.buffers.output()[..amount])?)
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, Error> {
        let input = self.buffers.input_append_buf();
        let amount = self.stream.read(input)?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        // The next request detects a server that is gone.
        true
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn a_redirect_is_an_error_because_nothing_was_done() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            let moved = b"HTTP/1.1 301 Moved\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n";
            stream.write_all(moved).unwrap();
        });
        let client = HttpClient::from_url("toy", &url, "d").unwrap_or_else(|why| panic!("{why}"));
        let error = client.post("/write", "text/plain", b"point").err().unwrap().to_string();
        assert!(error.contains("toy could not answer POST /write"), "{error}");
        server.join().unwrap();
    }
}
