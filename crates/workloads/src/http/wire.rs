//! Requests and answers on the wire: `POST /` with a row as its JSON body, and 201 for a row that
//! was committed.

use std::io::{self, Read, Write};

use httparse::{EMPTY_HEADER, Header, Status};

/// Answer to a row that was committed.
pub(super) const CREATED: &[u8] = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";

/// Answer to a request that cannot be read.
pub(super) const BAD: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Most bytes of a message. Rows have some hundreds.
const MOST: usize = 64 << 10;

/// Bytes to read from a connection at once.
const READ: usize = 4 << 10;

/// Appends the request that posts a row, given as JSON.
pub(super) fn append_request(body: &str, into: &mut Vec<u8>) -> io::Result<()> {
    write!(
        into,
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Messages that arrive on a connection, in reused memory.
pub(super) struct Incoming<S> {
    stream: S,
    bytes: Vec<u8>,
    /// Bytes of the last message that was returned.
    given: usize,
}

/// Bytes of a message's head and of its body.
type Lengths = (usize, usize);

impl<S: Read> Incoming<S> {
    pub(super) const fn new(stream: S) -> Self {
        Self { stream, bytes: Vec::new(), given: 0 }
    }

    /// Returns the body of the next message, or `None` if the connection ends before it. `head`
    /// parses a head, and returns `None` while it is incomplete.
    pub(super) fn next(
        &mut self,
        head: impl Fn(&[u8]) -> io::Result<Option<Lengths>>,
    ) -> io::Result<Option<&[u8]>> {
        self.bytes.drain(..self.given);
        self.given = 0;
        loop {
            if let Some((head, body)) = head(&self.bytes)?
                && let end = head + body
                && self.bytes.len() >= end
            {
                self.given = end;
                return Ok(Some(&self.bytes[head..end]));
            }
            let had = self.bytes.len();
            if had > MOST {
                return Err(io::Error::other("a message of more than 64 KiB"));
            }
            self.bytes.resize(had + READ, 0);
            let came = self.stream.read(&mut self.bytes[had..])?;
            self.bytes.truncate(had + came);
            match (came, had) {
                (0, 0) => return Ok(None),
                (0, _) => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
        }
    }
}

/// Parses the head of a request: `POST /`.
pub(super) fn request(bytes: &[u8]) -> io::Result<Option<Lengths>> {
    let mut headers = [EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut headers);
    let Status::Complete(head) = request.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    match (request.method, request.path) {
        (Some("POST"), Some("/")) => Ok(Some((head, length(request.headers)?))),
        (method, path) => Err(io::Error::other(format!("no such resource: {method:?} {path:?}"))),
    }
}

/// Parses the head of an answer: 201.
pub(super) fn answer(bytes: &[u8]) -> io::Result<Option<Lengths>> {
    let mut headers = [EMPTY_HEADER; 32];
    let mut answer = httparse::Response::new(&mut headers);
    let Status::Complete(head) = answer.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    match answer.code {
        Some(201) => Ok(Some((head, length(answer.headers)?))),
        code => Err(io::Error::other(format!("the server answered {code:?} and not 201"))),
    }
}

/// Returns the bytes of the body, which `Content-Length` must give.
fn length(headers: &[Header<'_>]) -> io::Result<usize> {
    let named = |header: &&Header<'_>| header.name.eq_ignore_ascii_case("content-length");
    let value = headers.iter().find(named).and_then(|header| str::from_utf8(header.value).ok());
    let length = value.and_then(|value| value.trim().parse().ok());
    length.ok_or_else(|| io::Error::other("no Content-Length"))
}
