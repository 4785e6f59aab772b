//! A connection to a server.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use super::answer::{Answer, ServerError, text};
use super::api::{BINARY, CONNECTION_OK, COPY_IN, Handle, Oid};
use super::library::Libpq;
use super::tidy;
use super::value::Encoded;

/// Rows per chunk: enough for its overhead to vanish, few enough for the CPU's caches.
const CHUNK: c_int = 256;

/// A connection, closed when dropped. One thread uses it, as libpq requires
/// (<https://www.postgresql.org/docs/18/libpq-threading.html>): nothing here is `Send`.
pub(super) struct Connection {
    pub library: &'static Libpq,
    raw: Handle,
}

impl Connection {
    /// Connects to `place`, a URL or a list of options in libpq's syntax, within ten seconds unless
    /// it says otherwise. Errors are for a person, and do not contain the password.
    pub fn open(library: &'static Libpq, place: &str) -> Result<Self, String> {
        let place = CString::new(place).map_err(|e| e.to_string())?;
        // Later options override earlier ones.
        let options = [
            (c"connect_timeout", c"10"),
            (c"dbname", &*place),
            (c"application_name", c"embermark"),
            (c"client_encoding", c"UTF8"),
        ];
        let mut keywords = [ptr::null(); 5];
        let mut values = keywords;
        for (index, (keyword, value)) in options.into_iter().enumerate() {
            (keywords[index], values[index]) = (keyword.as_ptr(), value.as_ptr());
        }
        let api = &library.api;
        // SAFETY: both lists end with a null, and their texts live beyond the call.
        let raw = unsafe { (api.connectdbParams)(keywords.as_ptr(), values.as_ptr(), 1) };
        // From here on, returning closes the connection. libpq accepts a null for a failed one.
        let connection = Self { library, raw };
        // SAFETY: it is null or a connection.
        if unsafe { (api.status)(raw) } != CONNECTION_OK {
            return Err(connection.error().message);
        }
        // SAFETY: the connection is alive; the function stays.
        unsafe { (api.setNoticeProcessor)(raw, ignore, ptr::null_mut()) };
        Ok(connection)
    }

    /// Returns the server's version as one number: 150018 is 15.18.
    pub fn server_version(&self) -> c_int {
        // SAFETY: the connection is alive.
        unsafe { (self.library.api.serverVersion)(self.raw) }
    }

    /// Runs statements without parameters. Returns the result of the last one, as text.
    pub fn exec(&mut self, sql: &CStr) -> Result<Answer, ServerError> {
        let answer = self.send(sql)?.last()?;
        answer.is_last()?;
        Ok(answer)
    }

    /// Runs statements from a Rust string.
    pub fn run(&mut self, sql: &str) -> Result<Answer, ServerError> {
        self.exec(&terminated(sql)?)
    }

    pub fn copy_in(&mut self, sql: &str) -> Result<CopyIn<'_>, ServerError> {
        let answer = self.send(&terminated(sql)?)?.last()?;
        match answer.status() {
            COPY_IN => Ok(CopyIn { connection: self, is_open: true }),
            _ => Err(ServerError::without_state("it is no COPY of rows")),
        }
    }

    fn send(&mut self, sql: &CStr) -> Result<Results<'_>, ServerError> {
        // SAFETY: the connection is alive and the text terminated. Nothing else is running, since
        // that would borrow the connection.
        let is_sent = unsafe { (self.library.api.sendQuery)(self.raw, sql.as_ptr()) };
        self.results(is_sent)
    }

    /// Prepares a statement with a name. Returns the types of its parameters.
    pub fn prepare(&mut self, name: &CStr, sql: &str) -> Result<Vec<Oid>, ServerError> {
        let (api, sql) = (&self.library.api, terminated(sql)?);
        let (name, sql) = (name.as_ptr(), sql.as_ptr());
        // SAFETY: the connection is alive and nothing is running on it; the texts are terminated
        // and outlive the call, and no types of parameters are given.
        let is_sent = unsafe { (api.sendPrepare)(self.raw, name, sql, 0, ptr::null()) };
        self.results(is_sent)?.last()?;
        // SAFETY: as above.
        let is_sent = unsafe { (api.sendDescribePrepared)(self.raw, name) };
        Ok(self.results(is_sent)?.last()?.parameters())
    }

    /// Executes a prepared statement. Its rows are returned all at once, which takes memory for all
    /// of them, or `streamed` as they arrive: in chunks where libpq has them, else one at a time.
    pub fn execute(
        &mut self,
        name: &CStr,
        values: Encoded<'_>,
        streamed: bool,
    ) -> Result<Results<'_>, ServerError> {
        let Libpq { api, set_chunked_rows_mode, .. } = self.library;
        let is_sent = self.send_prepared(name, values);
        if is_sent != 0 && streamed {
            // SAFETY: a statement was sent and nothing of its result was asked for. If this is
            // refused, all rows come at once.
            unsafe {
                match set_chunked_rows_mode {
                    Some(set) => set(self.raw, CHUNK),
                    None => (api.setSingleRowMode)(self.raw),
                };
            }
        }
        self.results(is_sent)
    }

    /// Sends a prepared statement. Outside a pipeline nothing else may be under way. Returns 0 on
    /// failure.
    pub fn send_prepared(&mut self, name: &CStr, values: Encoded<'_>) -> c_int {
        // SAFETY: the connection is alive; the three lists have the given number of entries, and
        // the values that the first one points to are borrowed. libpq keeps none of them.
        unsafe {
            (self.library.api.sendQueryPrepared)(
                self.raw,
                name.as_ptr(),
                values.count(),
                values.0.pointers.as_ptr(),
                values.0.lengths.as_ptr(),
                values.0.formats.as_ptr(),
                BINARY,
            )
        }
    }

    pub fn raw(&mut self) -> Handle {
        self.raw
    }

    /// Returns the next result, or `None` for a null instead of one.
    pub fn result(&mut self) -> Option<Answer> {
        let api = &self.library.api;
        // SAFETY: the connection is alive.
        let raw = unsafe { (api.getResult)(self.raw) };
        (!raw.is_null()).then_some(Answer { api, raw })
    }

    fn results(&mut self, is_sent: c_int) -> Result<Results<'_>, ServerError> {
        match is_sent {
            0 => Err(self.error()),
            _ => Ok(Results { connection: self, has_ended: false }),
        }
    }

    #[cold]
    pub fn error(&self) -> ServerError {
        // SAFETY: libpq also has a text for null.
        let message = unsafe { text((self.library.api.errorMessage)(self.raw)) };
        ServerError::without_state(tidy(&message))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: it is ended once.
        unsafe { (self.library.api.finish)(self.raw) };
    }
}

/// Results of a statement. Results that are not taken are read and dropped, so that the connection
/// can be used again.
pub(super) struct Results<'a> {
    connection: &'a mut Connection,
    has_ended: bool,
}

impl Results<'_> {
    /// Returns the next result, or `None` after the last.
    pub fn next(&mut self) -> Option<Answer> {
        if self.has_ended {
            return None;
        }
        let answer = self.connection.result();
        // The results of a COPY would not end.
        self.has_ended = answer.as_ref().is_none_or(Answer::is_copy);
        answer
    }

    /// Returns the last result of statements that return few rows or none. A COPY that has begun
    /// counts as one. Of several errors it is the first, because later errors of a lost connection
    /// say less.
    fn last(mut self) -> Result<Answer, ServerError> {
        let mut last = None;
        while let Some(answer) = self.next() {
            if !answer.is_copy() {
                answer.is_last()?;
            }
            last = Some(answer);
        }
        last.ok_or_else(|| ServerError::without_state("the server gave no answer"))
    }
}

impl Drop for Results<'_> {
    fn drop(&mut self) {
        while self.next().is_some() {}
    }
}

/// A COPY that is under way. Dropping it cancels it, and then nothing is stored.
pub(super) struct CopyIn<'a> {
    connection: &'a mut Connection,
    is_open: bool,
}

impl CopyIn<'_> {
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), ServerError> {
        let Connection { library, raw } = *self.connection;
        for piece in bytes.chunks(c_int::MAX as usize) {
            let count = c_int::try_from(piece.len()).unwrap_or(c_int::MAX);
            // SAFETY: the connection is alive and waits for rows; libpq copies the bytes.
            if unsafe { (library.api.putCopyData)(raw, piece.as_ptr().cast(), count) } != 1 {
                return Err(self.connection.error());
            }
        }
        Ok(())
    }

    /// Ends the COPY. Returns how many rows the server stored. After an error nothing is stored.
    pub fn finish(mut self) -> Result<u64, ServerError> {
        self.end(None)
    }

    fn end(&mut self, why: Option<&CStr>) -> Result<u64, ServerError> {
        self.is_open = false;
        let Connection { library, raw } = *self.connection;
        let why = why.map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: the connection is alive; the reason is null or a terminated text.
        if unsafe { (library.api.putCopyEnd)(raw, why) } != 1 {
            return Err(self.connection.error());
        }
        let results = Results { connection: self.connection, has_ended: false };
        Ok(results.last()?.count())
    }
}

impl Drop for CopyIn<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // The caller that cancels it reports why.
            let _ = self.end(Some(c"given up"));
        }
    }
}

/// Ignores notices and warnings, which libpq would write to standard error.
unsafe extern "C" fn ignore(_: *mut c_void, _: *const c_char) {}

fn terminated(sql: &str) -> Result<CString, ServerError> {
    CString::new(sql).map_err(|e| ServerError::without_state(e.to_string()))
}
