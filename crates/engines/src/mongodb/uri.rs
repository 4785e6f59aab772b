//! Where a server is and how it is spoken to, as the driver wants it.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::api::BsonError;
use super::library::MongoLib;
use crate::owned::Owned;
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
    pub handle: Owned,
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
        // SAFETY: it is ours to destroy, by that function; clients have copies.
        let handle = unsafe { Owned::new(handle, library.mongoc.uri_destroy) };
        if handle.raw.is_null() { Err(error.words()) } else { Ok(Self { library, handle }) }
    }

    /// What one client of one thread needs, whatever the URL says, and times where it says none.
    fn set_options(&self) -> Result<(), String> {
        let (mongoc, uri) = (&self.library.mongoc, self.handle.raw);
        // A write is tried once: a retry would hide what happened, and a lone server has none.
        let flags = [c"retryWrites", c"retryReads"];
        let always = [c"heartbeatFrequencyMS", c"socketCheckIntervalMS"];
        let unless_said = [
            (c"connectTimeoutMS", CONNECT_WITHIN),
            (c"serverSelectionTimeoutMS", CONNECT_WITHIN),
            // A question may take as long as it does: the default ends it after five minutes.
            (c"socketTimeoutMS", i32::MAX),
        ];
        // SAFETY: the handle is of a URI, and every name ends with a NUL.
        let are_set = unsafe {
            let number =
                |name: &CStr, value| (mongoc.uri_set_option_as_int32)(uri, name.as_ptr(), value);
            (mongoc.uri_set_appname)(uri, c"embermark".as_ptr())
                && flags.iter().all(|n| (mongoc.uri_set_option_as_bool)(uri, n.as_ptr(), false))
                && always.iter().all(|name| number(name, ASK_EVERY))
                && unless_said.iter().all(|(name, value)| {
                    (mongoc.uri_has_option)(uri, name.as_ptr()) || number(name, *value)
                })
        };
        if are_set { Ok(()) } else { Err("the driver refuses an option of ours".to_owned()) }
    }

    /// The servers that it names, without the user and his password.
    pub fn place(&self) -> String {
        let mongoc = &self.library.mongoc;
        let mut names = Vec::new();
        // SAFETY: the handle is of a URI, which owns its list of hosts and their names; each name
        // ends with a NUL. Where a name stands for several hosts there are none yet, and it is one.
        unsafe {
            let mut host = (mongoc.uri_get_hosts)(self.handle.raw);
            while let Some(one) = host.as_ref() {
                names.push(CStr::from_ptr(one.name_and_port.as_ptr()).to_string_lossy());
                host = one.next;
            }
            let several = (mongoc.uri_get_srv_hostname)(self.handle.raw);
            if names.is_empty() && !several.is_null() {
                names.push(CStr::from_ptr(several).to_string_lossy());
            }
        }
        names.join(", ")
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
