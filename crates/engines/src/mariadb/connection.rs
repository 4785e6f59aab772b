//! A connection to a server.

use std::ffi::{CStr, CString, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{self, NonNull};

use super::api::{Api, FOUND_ROWS, Flag, MULTI_STATEMENTS, Raw, option};
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
