//! Where a server is and how it is spoken to, as the driver wants it.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::api::{BsonError, Handle};
use super::library::MongoLib;
use crate::server::address::Address;
use crate::server::url::has_port;

/// How long a server may take to be found, and a connection to be made, in ms.
const CONNECT_WITHIN: i32 = 10_000;

/// How often the driver asks whether the server is still there, in ms: it does so in the middle of
/// the work, because it has no thread of its own. Nothing of it happens in a trial.
const ASK_EVERY: i32 = 3_600_000;

const NOT_ENCODED: &str = "its user or password is not percent-encoded";

/// A `mongoc_uri_t`.
pub(super) struct Uri {
    library: &'static MongoLib,
    pub handle: Handle,
}

// SAFETY: it is memory that only its owner uses.
unsafe impl Send for Uri {}

impl Uri {
    /// Of a server; `library` is the driver. Fails when the URL is none: why, without its password.
    pub fn new(library: &'static MongoLib, address: &Address) -> Result<Self, String> {
        match address {
            Address::Socket(path) => Self::of_url(library, &of_socket(path)),
            Address::Url(url) => Self::of_url(library, url),
        }
    }

    fn of_url(library: &'static MongoLib, url: &str) -> Result<Self, String> {
        let uri = Self::parse(library, url).map_err(|why| match split_at_user(url) {
            None if server_part(url).split(',').all(has_port) => why,
            None => "its port is no number".to_owned(),
            // The driver's words quote parts of the URL. Those about one that is the same but for
            // the password have none of it.
            Some((before, after)) => {
                let other = Self::parse(library, &format!("{before}user:password@{after}"));
                other.err().unwrap_or_else(|| NOT_ENCODED.to_owned())
            }
        })?;
        // The driver would take what follows the first of two for the server.
        if server_part(url).matches('@').count() > 1 {
            return Err(NOT_ENCODED.to_owned());
        }
        uri.set_options()?;
        Ok(uri)
    }

    fn parse(library: &'static MongoLib, url: &str) -> Result<Self, String> {
        let text = CString::new(url).map_err(|_| "a NUL is in it".to_owned())?;
        let mut error = BsonError::none();
        // SAFETY: a text that ends with a NUL, and room for an error.
        let handle = unsafe { (library.mongoc.uri_new_with_error)(text.as_ptr(), &raw mut error) };
        if handle.is_null() { Err(error.words()) } else { Ok(Self { library, handle }) }
    }

    /// What one client of one thread needs, whatever the URL says, and times where it says none.
    fn set_options(&self) -> Result<(), String> {
        let mongoc = &self.library.mongoc;
        let number = |name: &CStr, value| {
            // SAFETY: the handle is of a URI, the name ends with a NUL.
            unsafe { (mongoc.uri_set_option_as_int32)(self.handle, name.as_ptr(), value) }
        };
        let flag = |name: &CStr, value| {
            // SAFETY: as above.
            unsafe { (mongoc.uri_set_option_as_bool)(self.handle, name.as_ptr(), value) }
        };
        let unless_set = |name: &CStr, value| {
            // SAFETY: as above.
            let is_set = unsafe { (mongoc.uri_has_option)(self.handle, name.as_ptr()) };
            is_set || number(name, value)
        };
        // SAFETY: as above.
        let is_named = unsafe { (mongoc.uri_set_appname)(self.handle, c"embermark".as_ptr()) };
        let is_set = is_named
            // A write is tried once: a retry would hide what happened, and a lone server has none.
            && flag(c"retryWrites", false)
            && flag(c"retryReads", false)
            && number(c"heartbeatFrequencyMS", ASK_EVERY)
            && number(c"socketCheckIntervalMS", ASK_EVERY)
            && unless_set(c"connectTimeoutMS", CONNECT_WITHIN)
            && unless_set(c"serverSelectionTimeoutMS", CONNECT_WITHIN)
            // A question may take as long as it does: the default ends it after five minutes.
            && unless_set(c"socketTimeoutMS", i32::MAX);
        if is_set { Ok(()) } else { Err("the driver refuses an option of ours".to_owned()) }
    }

    /// The servers that it names, without the user and his password.
    pub fn place(&self) -> String {
        let mongoc = &self.library.mongoc;
        let mut names = Vec::new();
        // SAFETY: the handle is of a URI, which owns its list of hosts and their names; each name
        // ends with a NUL. Where a name stands for several hosts there are none yet, and it is one.
        unsafe {
            let mut host = (mongoc.uri_get_hosts)(self.handle);
            while let Some(one) = host.as_ref() {
                names.push(CStr::from_ptr(one.name_and_port.as_ptr()).to_string_lossy());
                host = one.next;
            }
            let several = (mongoc.uri_get_srv_hostname)(self.handle);
            if names.is_empty() && !several.is_null() {
                names.push(CStr::from_ptr(several).to_string_lossy());
            }
        }
        names.join(", ")
    }
}

impl Drop for Uri {
    fn drop(&mut self) {
        // SAFETY: it was made by the driver, and clients have copies.
        unsafe { (self.library.mongoc.uri_destroy)(self.handle) };
    }
}

/// The URL of a socket, whose path is percent-encoded
/// (<https://www.mongodb.com/docs/manual/reference/connection-string/>).
fn of_socket(path: &Path) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.');
    let path = percent_encode(path.as_os_str().as_bytes(), ENCODED);
    format!("mongodb://{path}/?directConnection=true")
}

/// What stands before and after the user and his password, as far as they can reach.
fn split_at_user(url: &str) -> Option<(&str, &str)> {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let (_, after) = url[begin..].rsplit_once('@')?;
    Some((&url[..begin], after))
}

/// The user, his password and the servers.
fn server_part(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split_once('/').map_or(rest, |(servers, _)| servers)
}

#[cfg(test)]
mod tests;
