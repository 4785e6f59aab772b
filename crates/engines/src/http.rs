//! The HTTP client of engines that speak HTTP: one connection, kept open.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Agent, Body, Error, RequestBuilder};

use crate::server::address::Address;
use crate::{EngineError, Result};

/// Bytes of an error's body that are shown.
const SHOWN: u64 = 2_000;

/// A client of one server.
pub(crate) struct HttpClient {
    engine: &'static str,
    agent: Agent,
    /// The Unix socket, if it is one.
    socket: Option<PathBuf>,
    base: String,
    accept: Option<&'static str>,
    authorization: Option<String>,
}

impl HttpClient {
    /// Speaks to a server on a Unix socket, or at a URL without a path at its end:
    /// `http://127.0.0.1:8086`.
    pub fn at(engine: &'static str, address: &Address) -> Self {
        let (socket, base) = match address {
            Address::Socket(socket) => (Some(socket.clone()), "http://localhost"),
            Address::Url(url) => (None, url.trim_end_matches('/')),
        };
        let (agent, base) = (agent(socket.as_deref()), base.to_owned());
        Self { engine, agent, socket, base, accept: None, authorization: None }
    }

    /// Ends the connection; the next request makes a new one.
    pub fn renew(&mut self) {
        self.agent = agent(self.socket.as_deref());
    }

    /// Asks for answers of this media type, with every request.
    #[cfg(feature = "influxdb")]
    pub fn accept(&mut self, media_type: &'static str) {
        self.accept = Some(media_type);
    }

    /// Sends this `Authorization` header with every request.
    #[cfg(feature = "harperdb")]
    pub fn authorize(&mut self, header: String) {
        self.authorization = Some(header);
    }

    /// Asks for a path, which begins with `/` and is encoded as a URL's must be. Fails when the
    /// server is not reached, or answers with a status of 400 and more: with its words.
    #[cfg(feature = "influxdb")]
    pub fn get(&self, path: &str) -> Result<Body> {
        let request = self.headed(self.agent.get(format!("{}{path}", self.base)));
        self.answer("GET", path, request.call())
    }

    /// Sends a body to a path.
    pub fn post(&self, path: &str, content_type: &str, body: &[u8]) -> Result<Body> {
        let request = self.headed(self.agent.post(format!("{}{path}", self.base)));
        self.answer("POST", path, request.header("content-type", content_type).send(body))
    }

    fn headed<B>(&self, mut request: RequestBuilder<B>) -> RequestBuilder<B> {
        if let Some(media_type) = self.accept {
            request = request.header("accept", media_type);
        }
        if let Some(header) = &self.authorization {
            request = request.header("authorization", header);
        }
        request
    }

    fn answer(
        &self,
        method: &str,
        path: &str,
        answer: std::result::Result<ureq::http::Response<Body>, Error>,
    ) -> Result<Body> {
        let route = path.split('?').next().unwrap_or(path);
        let failed =
            |why: String| EngineError::failed(self.engine, format!("answer {method} {route}"), why);
        let (parts, body) = answer.map_err(|error| failed(error.to_string()))?.into_parts();
        if parts.status.as_u16() < 400 {
            return Ok(body);
        }
        // InfluxDB says it here too, in plain words whatever its body is encoded in.
        if let Some(Ok(words)) = parts.headers.get("x-influxdb-error").map(|h| h.to_str()) {
            return Err(failed(format!("{}: {words}", parts.status)));
        }
        let mut text = Vec::new();
        // What could be read is shown.
        let _ = reader(body).take(SHOWN).read_to_end(&mut text);
        Err(failed(format!("{}: {}", parts.status, String::from_utf8_lossy(&text).trim())))
    }
}

/// Reads an answer of any length as it comes.
pub(crate) fn reader(body: Body) -> impl Read {
    body.into_with_config().limit(u64::MAX).reader()
}

/// Reads an answer to its end, so that the connection can be used again, and forgets it.
pub(crate) fn discard(engine: &'static str, body: Body) -> Result<()> {
    let read = std::io::copy(&mut reader(body), &mut std::io::sink());
    read.map(drop).map_err(|error| EngineError::failed(engine, "end its answer", error))
}

/// What sends requests, to a Unix socket or to where they say.
fn agent(socket: Option<&Path>) -> Agent {
    match socket {
        Some(socket) => Agent::with_parts(config(), Unix { socket: socket.to_owned() }, Nowhere),
        None => Agent::new_with_config(config()),
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

/// Connects to a socket whatever the URL says.
#[derive(Debug)]
struct Unix {
    socket: PathBuf,
}

impl Connector for Unix {
    type Out = UnixTransport;

    fn connect(
        &self,
        details: &ConnectionDetails,
        _: Option<()>,
    ) -> std::result::Result<Option<UnixTransport>, Error> {
        let stream = UnixStream::connect(&self.socket)?;
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        Ok(Some(UnixTransport { stream, buffers }))
    }
}

/// A connection; requests have no time-outs, since a phase's cap and the trial's rule here.
struct UnixTransport {
    stream: UnixStream,
    buffers: LazyBuffers,
}

impl fmt::Debug for UnixTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnixTransport")
    }
}

impl Transport for UnixTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> std::result::Result<(), Error> {
        Ok(self.stream.write_all(&self.buffers.output()[..amount])?)
    }

    fn await_input(&mut self, _: NextTimeout) -> std::result::Result<bool, Error> {
        let input = self.buffers.input_append_buf();
        let amount = self.stream.read(input)?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        // A server that has gone is found out by the next request.
        true
    }
}

/// A Unix socket needs no address.
#[derive(Debug)]
struct Nowhere;

impl Resolver for Nowhere {
    fn resolve(
        &self,
        _: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> std::result::Result<ResolvedSocketAddrs, Error> {
        let mut addresses = self.empty();
        addresses.push(([127, 0, 0, 1], 0).into());
        Ok(addresses)
    }
}
