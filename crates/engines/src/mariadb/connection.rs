//! A connection to a server.

use std::ffi::{CStr, CString, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, NonNull};

use super::api::{Api, FOUND_ROWS, Flag, MULTI_STATEMENTS, Raw, option, protocol};
use super::failure::Failure;
use super::library::Connector;
use super::target::{Place, Target};

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
        let by = match target.place {
            Place::Socket(_) => protocol::SOCKET,
            Place::Tcp { .. } => protocol::TCP,
        };
        let (off, no): (c_uint, Flag) = (0, 0);
        self.set(option::CONNECT_TIMEOUT, (&raw const within).cast())?;
        self.set(option::PROTOCOL, (&raw const by).cast())?;
        self.set(option::LOCAL_INFILE, (&raw const off).cast())?;
        self.set(option::RECONNECT, (&raw const no).cast())?;
        // From version 3.4 on a certificate is required by default.
        self.set(option::VERIFY_CERTIFICATE, (&raw const no).cast())?;
        self.set(option::CHARACTER_SET, c"utf8mb4".as_ptr().cast())?;
        self.set(option::RESTRICTED_AUTH, AUTHENTICATION.as_ptr().cast())?;
        match &self.library.plugins {
            Some(folder) => self.set(option::PLUGIN_DIR, folder.as_ptr().cast()),
            None => Ok(()),
        }
    }

    /// Sets an option. The value must have the option's type.
    fn set(&self, option: c_uint, value: *const c_void) -> Result<(), Failure> {
        // SAFETY: there is no connection yet, and every caller above gives a value of the option's
        // type, which the library copies: an `unsigned int`, a `my_bool` or a text.
        match unsafe { (self.api().options)(self.raw(), option, value) } {
            0 => Ok(()),
            _ => Err(self.failure()),
        }
    }

    fn connect(&self, target: &Target) -> Result<(), Failure> {
        let user = terminated(target.user.as_deref())?;
        let password = terminated(target.password.as_deref())?;
        let database = terminated(target.database.as_deref())?;
        let (host, port, socket) = match &target.place {
            Place::Socket(path) => (None, 0, Some(text(path.as_os_str().as_bytes())?)),
            Place::Tcp { host, port } => (Some(text(host.as_bytes())?), *port, None),
        };
        let given = |text: &Option<CString>| text.as_deref().map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: the texts outlive the call, and the library copies what it keeps of them; null
        // leaves a choice to the library.
        let connected = unsafe {
            (self.api().real_connect)(
                self.raw(),
                given(&host),
                given(&user),
                given(&password),
                given(&database),
                port.into(),
                given(&socket),
                FOUND_ROWS | MULTI_STATEMENTS,
            )
        };
        if connected.is_null() { Err(self.failure()) } else { Ok(()) }
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

fn terminated(of: Option<&str>) -> Result<Option<CString>, Failure> {
    of.map(|of| text(of.as_bytes())).transpose()
}

fn text(bytes: &[u8]) -> Result<CString, Failure> {
    CString::new(bytes).map_err(|_| Failure::own("a byte of zero is in what it connects by"))
}
