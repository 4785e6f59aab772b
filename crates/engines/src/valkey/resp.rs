//! A connection with the server's protocol, RESP 2 (<https://valkey.io/topics/protocol/>), and
//! reused buffers.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use itoa::Buffer;

use super::uri::Place;

/// Initial size of the receive buffer, and the least that is read at once.
const ROOM: usize = 64 * 1024;

/// Bytes of commands after which they are sent, so that the server works while more are written.
const SEND_AFTER: usize = 64 * 1024;

/// How long connecting to a host may take.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// An error of the connection, or of the server.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the connection failed: {0}")]
    Broken(#[from] io::Error),
    #[error("{0}")]
    Refused(String),
    #[error("it answered what it should not: {0}")]
    Unexpected(String),
}

/// A result of a call to the server.
pub(super) type Answer<T> = Result<T, Failure>;

/// The first line of an answer.
#[derive(Debug)]
enum Head {
    /// `+OK` or `+QUEUED`, without further content.
    Simple,
    Number(i64),
    /// A string of this many bytes, or none.
    Bulk(Option<usize>),
    /// This many answers, or none.
    List(Option<usize>),
}

/// A connection. Commands are gathered, sent together, and answered in order.
pub(super) struct Connection {
    stream: UnixStream,
    out: Vec<u8>,
    received: Vec<u8>,
    /// Where the unread part of the received bytes begins.
    at: usize,
    end: usize,
}

impl Connection {
    pub fn open(place: &Place) -> io::Result<Self> {
        let stream = match place {
            Place::Socket(path) => UnixStream::connect(path)?,
            // A socket is read and written in the same way, whatever it connects to.
            Place::Host { name, port } => OwnedFd::from(connect(name, *port)?).into(),
        };
        let received = vec![0; ROOM];
        Ok(Self { stream, out: Vec::with_capacity(ROOM), received, at: 0, end: 0 })
    }

    /// Begins a command of this many words, including its name.
    #[inline]
    pub fn command(&mut self, words: usize, name: &str) {
        self.head(b'*', words);
        self.word(&[name.as_bytes()]);
    }

    /// Adds a whole command.
    pub fn ask(&mut self, words: &[&[u8]]) -> &mut Self {
        self.head(b'*', words.len());
        words.iter().for_each(|word| self.word(&[word]));
        self
    }

    /// Adds a word to a command, joined from parts.
    #[inline]
    pub fn word(&mut self, parts: &[&[u8]]) {
        self.head(b'$', parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| self.out.extend_from_slice(part));
        self.out.extend_from_slice(b"\r\n");
    }

    pub fn number(&mut self, number: usize) {
        self.word(&[Buffer::new().format(number).as_bytes()]);
    }

    #[inline]
    fn head(&mut self, kind: u8, number: usize) {
        self.out.push(kind);
        self.out.extend_from_slice(Buffer::new().format(number).as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    /// Sends the gathered commands.
    #[inline]
    pub fn send(&mut self) -> Answer<()> {
        let sent = self.stream.write_all(&self.out);
        self.out.clear();
        // Frees the memory of values of many megabytes.
        self.out.shrink_to(16 * SEND_AFTER);
        Ok(sent?)
    }

    /// Sends the gathered commands if they are many.
    #[inline]
    pub fn send_many(&mut self) -> Answer<()> {
        if self.out.len() < SEND_AFTER { Ok(()) } else { self.send() }
    }

    /// Receives until this many bytes are available. Earlier received bytes can move.
    #[inline]
    fn hold(&mut self, bytes: usize) -> Answer<()> {
        while self.end - self.at < bytes {
            self.receive(bytes)?;
        }
        Ok(())
    }

    /// Receives more, with room for this many unread bytes.
    #[cold]
    fn receive(&mut self, bytes: usize) -> Answer<()> {
        let unread = self.end - self.at;
        let (need, room) = (bytes.max(unread + 1), self.received.len());
        if self.at > 0 && (room - self.at < need || room - self.end < ROOM / 4) {
            self.received.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, unread);
        }
        if self.received.len() - self.at < need {
            self.received.resize(need.next_multiple_of(ROOM), 0);
        }
        let read = loop {
            match self.stream.read(&mut self.received[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if read == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        self.end += read;
        Ok(())
    }

    /// Reads the first line of an answer.
    ///
    /// # Errors
    /// Fails also when the server refused the command.
    #[inline]
    fn head_of_answer(&mut self) -> Answer<Head> {
        let mut seen = 0;
        let length = loop {
            let unread = &self.received[self.at + seen..self.end];
            if let Some(place) = unread.iter().position(|byte| *byte == b'\n') {
                break seen + place + 1;
            }
            seen += unread.len();
            self.receive(seen + 1)?;
        };
        let line = &self.received[self.at..self.at + length];
        self.at += length;
        let (kind, rest) = (line[0], &line[1..length.max(3) - 2]);
        match kind {
            b'+' => Ok(Head::Simple),
            b'-' => Err(Failure::Refused(String::from_utf8_lossy(rest).into_owned())),
            b':' | b'$' | b'*' => {
                let number = whole(rest).ok_or_else(|| unexpected(line))?;
                Ok(match kind {
                    b':' => Head::Number(number),
                    b'$' => Head::Bulk(usize::try_from(number).ok()),
                    _ => Head::List(usize::try_from(number).ok()),
                })
            }
            _ => Err(unexpected(line)),
        }
    }

    /// Reads an answer that only confirms that a command was done or queued.
    #[inline]
    pub fn done(&mut self) -> Answer<()> {
        match self.head_of_answer()? {
            Head::Simple => Ok(()),
            head => Err(wrong(&head)),
        }
    }

    /// Reads an answer that also reports whether the command was done. It was not if what it should
    /// replace has changed.
    pub fn was_done(&mut self) -> Answer<bool> {
        match self.head_of_answer()? {
            Head::Simple => Ok(true),
            Head::Bulk(None) => Ok(false),
            head => Err(wrong(&head)),
        }
    }

    #[inline]
    pub fn integer(&mut self) -> Answer<i64> {
        match self.head_of_answer()? {
            Head::Number(number) => Ok(number),
            head => Err(wrong(&head)),
        }
    }

    /// Reads an answer of any kind. Returns its number, if it is one.
    pub fn number_or_none(&mut self) -> Answer<Option<i64>> {
        match self.head_of_answer()? {
            Head::Number(number) => Ok(Some(number)),
            head => self.rest(head).map(|()| None),
        }
    }

    /// Reads the length of a list, whose items follow as answers.
    pub fn list(&mut self) -> Answer<usize> {
        match self.head_of_answer()? {
            Head::List(Some(length)) => Ok(length),
            head => Err(wrong(&head)),
        }
    }

    /// Reads a string, valid until the next answer is read. `None` for a null string.
    #[inline]
    pub fn bulk(&mut self) -> Answer<Option<&[u8]>> {
        let length = match self.head_of_answer()? {
            Head::Bulk(Some(length)) => length,
            Head::Bulk(None) => return Ok(None),
            head => return Err(wrong(&head)),
        };
        self.hold(length + 2)?;
        let from = self.at;
        self.at += length + 2;
        Ok(Some(&self.received[from..from + length]))
    }

    pub fn text(&mut self) -> Answer<String> {
        Ok(String::from_utf8_lossy(self.bulk()?.unwrap_or_default()).into_owned())
    }

    /// Reads an answer of any kind and drops it.
    pub fn skip(&mut self) -> Answer<()> {
        let head = self.head_of_answer()?;
        self.rest(head)
    }

    fn rest(&mut self, head: Head) -> Answer<()> {
        match head {
            Head::Bulk(Some(length)) => {
                self.hold(length + 2)?;
                self.at += length + 2;
                Ok(())
            }
            Head::List(Some(length)) => (0..length).try_for_each(|_| self.skip()),
            _ => Ok(()),
        }
    }
}

fn connect(name: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::other("the host has no address");
    for address in (name, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_WITHIN) {
            Ok(stream) => return stream.set_nodelay(true).map(|()| stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Parses an integer of decimal digits.
#[inline]
fn whole(digits: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match digits {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut number = 0_i64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        number = number.checked_mul(10)?.checked_add((digit < 10).then_some(digit.into())?)?;
    }
    (!digits.is_empty()).then_some(if is_negative { -number } else { number })
}

#[cold]
fn unexpected(line: &[u8]) -> Failure {
    Failure::Unexpected(String::from_utf8_lossy(line).trim_end().to_owned())
}

#[cold]
fn wrong(head: &Head) -> Failure {
    Failure::Unexpected(format!("{head:?}"))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Returns a connection whose peer sends these bytes, a few at a time, and reads what is sent.
    fn answering(answer: &'static [u8], at_a_time: usize) -> Connection {
        let (stream, other) = UnixStream::pair().unwrap();
        thread::spawn(move || {
            for some in answer.chunks(at_a_time) {
                if (&other).write_all(some).is_err() {
                    return;
                }
            }
            // Waits until the connection is closed.
            let _ = (&other).read(&mut [0; 1024]);
        });
        Connection { stream, out: Vec::new(), received: vec![0; ROOM], at: 0, end: 0 }
    }

    #[test]
    fn answers_are_read_in_their_order_however_they_arrive() {
        const SAID: &[u8] =
        b"+OK\r\n:-42\r\n$5\r\nva\r\nl\r\n$-1\r\n*2\r\n:7\r\n$0\r\n\r\n*-1\r\n$-1\r\n-ERR no\r\n";
        for at_a_time in [1, 2, 3, 7, SAID.len()] {
            let mut connection = answering(SAID, at_a_time);
            connection.done().unwrap();
            assert_eq!(connection.integer().unwrap(), -42);
            assert_eq!(connection.bulk().unwrap(), Some(&b"va\r\nl"[..]));
            assert_eq!(connection.bulk().unwrap(), None);
            assert_eq!(connection.list().unwrap(), 2);
            assert_eq!(connection.number_or_none().unwrap(), Some(7));
            assert_eq!(connection.number_or_none().unwrap(), None);
            connection.skip().unwrap();
            assert!(!connection.was_done().unwrap());
            assert!(matches!(connection.done(), Err(Failure::Refused(why)) if why == "ERR no"));
        }
    }

    #[test]
    fn a_value_may_be_larger_than_the_room_and_what_follows_it_is_not_lost() {
        let size = 3 * ROOM + 5;
        let said = format!("+OK\r\n${size}\r\n{}\r\n:1\r\n", "x".repeat(size)).into_bytes().leak();
        for at_a_time in [1000, ROOM - 1, said.len()] {
            let mut connection = answering(said, at_a_time);
            connection.done().unwrap();
            let value = connection.bulk().unwrap().unwrap();
            assert!(value.len() == size && value.iter().all(|byte| *byte == b'x'));
            assert_eq!(connection.integer().unwrap(), 1);
        }
    }

    #[test]
    fn what_is_no_answer_and_an_end_in_the_middle_of_one_are_errors() {
        for said in [&b"?what\r\n"[..], b":x1\r\n", b":\r\n", b"\r\n", b"\n"] {
            let mut connection = answering(said, 100);
            assert!(matches!(connection.skip(), Err(Failure::Unexpected(_))), "{said:?}");
        }
        let mut connection = answering(b"+OK\r\n", 100);
        assert!(matches!(connection.bulk(), Err(Failure::Unexpected(_))));
        let (stream, other) = UnixStream::pair().unwrap();
        (&other).write_all(b"$10\r\nabc").unwrap();
        drop(other);
        let mut connection =
            Connection { stream, out: Vec::new(), received: vec![0; ROOM], at: 0, end: 0 };
        assert!(matches!(connection.bulk(), Err(Failure::Broken(_))));
    }

    #[test]
    fn a_command_is_its_words_with_their_lengths() {
        let mut connection = answering(b"", 1);
        connection.command(4, "SET");
        connection.word(&[b"1:", b"\0key"]);
        connection.word(&[b""]);
        connection.number(120);
        let expected = b"*4\r\n$3\r\nSET\r\n$6\r\n1:\0key\r\n$0\r\n\r\n$3\r\n120\r\n";
        assert_eq!(connection.out, expected);
    }

    #[test]
    fn whole_numbers_are_read_up_to_the_largest() {
        assert_eq!(whole(b"0"), Some(0));
        assert_eq!(whole(b"-7"), Some(-7));
        assert_eq!(whole(b"9223372036854775807"), Some(i64::MAX));
        for wrong in [&b""[..], b"-", b"1x", b"+1", b"9223372036854775808"] {
            assert_eq!(whole(wrong), None, "{wrong:?}");
        }
    }
}
