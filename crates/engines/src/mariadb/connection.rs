//! A connection to a server, and statements that are sent once as text.

use std::ffi::{CStr, CString, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, NonNull};

use super::api::{Api, FOUND_ROWS, Flag, MULTI_STATEMENTS, Raw, option};
use super::failure::Failure;
use super::library::Connector;
use super::target::{Place, Target};
use crate::owned;

/// Authentication methods that never send a password in clear text, by the names of the library's
/// plugins.
const AUTHENTICATION: &CStr = c"mysql_native_password,client_ed25519,parsec,caching_sha2_password,\
                                sha256_password,auth_gssapi_client";

/// A connection. It stays on the thread that made it, because its pointer is not [`Send`]. Threads
/// are not registered with the library, whose `mysql_thread_init` does nothing.
pub(super) struct Connection {
    pub library: &'static Connector,
    raw: NonNull<c_void>,
}

impl Connection {
    /// Connects without TLS. An update counts the rows it found, including those that had the value
    /// already. A lost connection is not reopened, and no local file is ever sent. Errors do not
    /// contain the password.
    pub fn open(library: &'static Connector, target: &Target) -> Result<Self, Failure> {
        // SAFETY: given null, the library makes the memory.
        let raw = unsafe { (library.api.init)(ptr::null_mut()) };
        let raw = NonNull::new(raw).ok_or_else(|| Failure::own("there is no memory for it"))?;
        let connection = Self { library, raw };
        connection.configure(target)?;
        connection.connect(target)?;
        Ok(connection)
    }

    fn configure(&self, target: &Target) -> Result<(), Failure> {
        let within = c_uint::try_from(target.connect_within.as_secs()).unwrap_or(c_uint::MAX);
        // `enum mysql_protocol_type`.
        let by: c_uint = match target.place {
            Place::Tcp { .. } => 1,
            Place::Socket(_) => 2,
        };
        let (off, no): (c_uint, Flag) = (0, 0);
        let options: [(c_uint, *const c_void); 7] = [
            (option::CONNECT_TIMEOUT, (&raw const within).cast()),
            (option::PROTOCOL, (&raw const by).cast()),
            (option::LOCAL_INFILE, (&raw const off).cast()),
            (option::RECONNECT, (&raw const no).cast()),
            // From version 3.4 on a certificate is required by default.
            (option::VERIFY_CERTIFICATE, (&raw const no).cast()),
            (option::CHARACTER_SET, c"utf8mb4".as_ptr().cast()),
            (option::RESTRICTED_AUTH, AUTHENTICATION.as_ptr().cast()),
        ];
        let plugins = self.library.plugins.as_ref();
        let plugins = plugins.map(|folder| (option::PLUGIN_DIR, folder.as_ptr().cast()));
        for (option, value) in options.into_iter().chain(plugins) {
            // SAFETY: there is no connection yet, and every value has its option's type, which the
            // library copies: an `unsigned int`, a `my_bool` or a text.
            if unsafe { (self.api().options)(self.raw(), option, value) } != 0 {
                return Err(self.failure());
            }
        }
        Ok(())
    }

    fn connect(&self, target: &Target) -> Result<(), Failure> {
        let user = terminated(target.user.as_deref())?;
        let password = terminated(target.password.as_deref())?;
        let database = terminated(target.database.as_deref())?;
        let (host, port, socket) = match &target.place {
            Place::Socket(path) => (None, 0, Some(text(path.as_os_str().as_bytes())?)),
            Place::Tcp { host, port } => (Some(text(host.as_bytes())?), *port, None),
        };
        let texts = [&host, &user, &password, &database, &socket];
        let [host, user, password, database, socket] =
            texts.map(|text| text.as_deref().map_or(ptr::null(), CStr::as_ptr));
        let (api, raw, port) = (self.api(), self.raw(), port.into());
        let flags = FOUND_ROWS | MULTI_STATEMENTS;
        // SAFETY: the texts outlive the call, and the library copies what it keeps of them; null
        // leaves a choice to the library.
        let connected =
            unsafe { (api.real_connect)(raw, host, user, password, database, port, socket, flags) };
        if connected.is_null() { Err(self.failure()) } else { Ok(()) }
    }

    /// Runs statements and drops their results. None is run after one that failed.
    pub fn run(&self, sql: &str) -> Result<(), Failure> {
        self.send(sql)?;
        loop {
            drop(self.answer()?);
            if !self.next()? {
                return Ok(());
            }
        }
    }

    /// Runs one statement without rows. Returns how many it stored.
    pub fn store(&self, sql: &str) -> Result<u64, Failure> {
        self.send(sql)?;
        drop(self.answer()?);
        // SAFETY: the connection is open.
        Ok(unsafe { (self.api().affected_rows)(self.raw()) })
    }

    /// Runs one statement. Returns its rows as texts, with NULL as an empty one.
    pub fn rows<const N: usize>(&self, sql: &str) -> Result<Vec<[String; N]>, Failure> {
        self.send(sql)?;
        let answer = self.answer()?.ok_or_else(|| Failure::own("it returned no rows"))?;
        answer.rows()
    }

    fn send(&self, sql: &str) -> Result<(), Failure> {
        // SAFETY: the connection is open, and the text has the given length.
        let code =
            unsafe { (self.api().real_query)(self.raw(), sql.as_ptr().cast(), sql.len() as _) };
        if code == 0 { Ok(()) } else { Err(self.failure()) }
    }

    /// Reads all rows of a statement, if it returns rows.
    fn answer(&self) -> Result<Option<Answer>, Failure> {
        let api = self.api();
        // SAFETY: a statement has been run, and its result has not been read.
        let (raw, columns) =
            unsafe { ((api.store_result)(self.raw()), (api.field_count)(self.raw())) };
        match (raw.is_null(), columns) {
            (false, _) => Ok(Some(Answer { api, raw })),
            (true, 0) => Ok(None),
            (true, _) => Err(self.failure()),
        }
    }

    /// Moves to the next of the statements that were sent.
    fn next(&self) -> Result<bool, Failure> {
        // SAFETY: the previous result has been read.
        match unsafe { (self.api().next_result)(self.raw()) } {
            0 => Ok(true),
            -1 => Ok(false),
            _ => Err(self.failure()),
        }
    }

    pub fn api(&self) -> &'static Api {
        &self.library.api
    }

    pub fn raw(&self) -> Raw {
        self.raw.as_ptr()
    }

    /// Returns the error of the last call.
    pub fn failure(&self) -> Failure {
        let api = self.api();
        // SAFETY: the library keeps both texts of a connection until the next call.
        unsafe {
            let state = (api.sqlstate)(self.raw());
            Failure::read((api.errno)(self.raw()), state, (api.error)(self.raw()))
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: it is not used again, since any statement of it would keep it alive.
        unsafe { (self.api().close)(self.raw()) }
    }
}

/// Rows of a result. Freed when dropped.
struct Answer {
    api: &'static Api,
    raw: Raw,
}

impl Answer {
    fn rows<const N: usize>(&self) -> Result<Vec<[String; N]>, Failure> {
        // SAFETY: the result is alive.
        if unsafe { (self.api.num_fields)(self.raw) } as usize != N {
            return Err(Failure::own("its rows have another number of columns"));
        }
        let mut rows = Vec::new();
        loop {
            // SAFETY: a row that is not null has a value for each column, of the given length, or
            // null with the length 0, until the next row is asked for.
            unsafe {
                let row = (self.api.fetch_row)(self.raw);
                if row.is_null() {
                    return Ok(rows);
                }
                let lengths = (self.api.fetch_lengths)(self.raw);
                rows.push(std::array::from_fn(|column| {
                    let (value, length) = (*row.add(column), *lengths.add(column));
                    let value = owned::bytes(value.cast(), length as usize);
                    String::from_utf8_lossy(value).into_owned()
                }));
            }
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        unsafe { (self.api.free_result)(self.raw) }
    }
}

fn terminated(of: Option<&str>) -> Result<Option<CString>, Failure> {
    of.map(|of| text(of.as_bytes())).transpose()
}

fn text(bytes: &[u8]) -> Result<CString, Failure> {
    CString::new(bytes).map_err(|_| Failure::own("a byte of zero is in what it connects by"))
}
