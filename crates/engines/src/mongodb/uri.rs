//! The server's address and options, in the driver's form.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use super::api::BsonError;
use super::library::MongoLib;
use crate::owned::Owned;
use crate::server::address::Address;

/// How long finding a server and connecting may take, in ms.
const CONNECT_WITHIN: i32 = 10_000;

/// How often the driver asks whether the server is still there, in ms. It does so in the middle of
/// the work, because it has no thread of its own, and never during a trial.
const ASK_EVERY: i32 = 3_600_000;

const NOT_ENCODED: &str = "its user or password is not percent-encoded";

/// A `mongoc_uri_t`.
pub(super) struct Uri {
    pub library: &'static MongoLib,
    pub handle: Owned,
    /// Its servers, without the user and the password.
    pub place: String,
}

// SAFETY: it is memory that only its owner uses.
unsafe impl Send for Uri {}

impl Uri {
    /// Creates the URI of a server for the driver in `library`. Fails if the URL is invalid, with
    /// the reason but without its password.
    pub fn new(library: &'static MongoLib, address: &Address) -> Result<Self, String> {
        let url = &match address {
            Address::Socket(path) => of_socket(path),
            Address::Url(url) => url.clone(),
        };
        let servers = server_part(url);
        let handle = parse(library, url).map_err(|why| match split_at_user(url) {
            None if servers.split(',').all(has_port) => why,
            None => "its port is not a number".to_owned(),
            // The driver's messages quote parts of the URL. Those about the same URL with another
            // password do not contain the password.
            Some((before, after)) => {
                let other = parse(library, &format!("{before}user:password@{after}"));
                other.err().unwrap_or_else(|| NOT_ENCODED.to_owned())
            }
        })?;
        // The driver would take what follows the first of two as the server.
        if servers.matches('@').count() > 1 {
            return Err(NOT_ENCODED.to_owned());
        }
        let place = match address {
            Address::Socket(path) => path.display().to_string(),
            // Some versions of the driver accept options without a slash before them.
            Address::Url(_) => {
                let servers = servers.rsplit('@').next().unwrap_or(servers);
                servers.split('?').next().unwrap_or(servers).to_owned()
            }
        };
        set_options(library, &handle)?;
        Ok(Self { library, handle, place })
    }
}

fn parse(library: &'static MongoLib, url: &str) -> Result<Owned, String> {
    let text = CString::new(url).map_err(|_| "a NUL is in it".to_owned())?;
    let mut error = BsonError::none();
    // SAFETY: a text that ends with a NUL, and room for an error.
    let handle = unsafe { (library.mongoc.uri_new_with_error)(text.as_ptr(), &raw mut error) };
    // SAFETY: it is ours to destroy, by that function; clients have copies.
    let handle = unsafe { Owned::new(handle, library.mongoc.uri_destroy) };
    if handle.raw.is_null() { Err(error.message()) } else { Ok(handle) }
}

/// Sets what a client with one thread needs, whatever the URL says, and times that it does not
/// say.
fn set_options(library: &MongoLib, uri: &Owned) -> Result<(), String> {
    let (mongoc, uri) = (&library.mongoc, uri.raw);
    // A write is tried once: a retry would hide what happened, and a single server has none.
    let flags = [c"retryWrites", c"retryReads"];
    let always = [c"heartbeatFrequencyMS", c"socketCheckIntervalMS"];
    let unless_said = [
        (c"connectTimeoutMS", CONNECT_WITHIN),
        (c"serverSelectionTimeoutMS", CONNECT_WITHIN),
        // A question can take as long as it takes. The default ends it after five minutes.
        (c"socketTimeoutMS", i32::MAX),
    ];
    // SAFETY: the handle is that of a URI, and every name ends with a NUL.
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

/// Returns the URL of a socket, whose path is percent-encoded
/// (<https://www.mongodb.com/docs/manual/reference/connection-string/>).
fn of_socket(path: &Path) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.');
    let path = percent_encode(path.as_os_str().as_bytes(), ENCODED);
    format!("mongodb://{path}/?directConnection=true")
}

/// Returns whether the port of a server's address is a number. Otherwise it can be a password whose
/// host is missing.
fn has_port(address: &str) -> bool {
    let host_ends = address.rfind(']').map_or(0, |end| end + 1);
    let port = address[host_ends..].split_once(':');
    port.is_none_or(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns what is before and after the user and the password, as far as they can extend.
fn split_at_user(url: &str) -> Option<(&str, &str)> {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let (_, after) = url[begin..].rsplit_once('@')?;
    Some((&url[..begin], after))
}

/// Returns the user, the password, and the servers.
fn server_part(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split_once('/').map_or(rest, |(servers, _)| servers)
}

#[cfg(test)]
mod tests {
    use std::ffi::c_char;

    use libloading::Library;

    use super::super::api::Handle;
    use super::super::library::library;
    use super::*;
    use crate::library::functions;

    #[test]
    fn a_socket_is_named_by_its_path() {
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        let path = Path::new("/proc/self/fd/7/a b%.sock");
        assert_eq!(
            of_socket(path),
            "mongodb://%2Fproc%2Fself%2Ffd%2F7%2Fa%20b%25.sock/?directConnection=true"
        );
        let uri = Uri::new(library, &Address::Socket(path.to_owned())).unwrap();
        assert_eq!(uri.place, path.to_str().unwrap());
    }

    #[test]
    fn servers_are_named_without_the_user() {
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        let place = |url: &str| Uri::new(library, &Address::from(url)).unwrap().place;
        assert_eq!(place("mongodb://me:hunter2@one,two:5/?replicaSet=r"), "one,two:5");
        assert_eq!(place("mongodb+srv://me:hunter2@db.example.com/"), "db.example.com");
    }

    #[test]
    fn writes_are_tried_once_and_times_are_ours_where_the_url_says_none() {
        functions! {
            struct Reading of "mongoc_";
            uri_get_option_as_int32(uri: Handle, name: *const c_char, otherwise: i32) -> i32;
            uri_get_option_as_bool(uri: Handle, name: *const c_char, otherwise: bool) -> bool;
        }
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        // SAFETY: the library is already loaded, and the functions are those in its header.
        let reading = unsafe { Reading::load(&Library::new("libmongoc-1.0.so.0").unwrap()) };
        let reading = reading.unwrap();
        let url = "mongodb://host/?retryWrites=true&heartbeatFrequencyMS=600&socketTimeoutMS=9";
        let uri = Uri::new(library, &Address::from(url)).unwrap();
        // SAFETY: a URI, and names that end with a NUL.
        let number = |name: &CStr| unsafe {
            (reading.uri_get_option_as_int32)(uri.handle.raw, name.as_ptr(), 0)
        };
        // SAFETY: as above.
        let flag = |name: &CStr| unsafe {
            (reading.uri_get_option_as_bool)(uri.handle.raw, name.as_ptr(), true)
        };
        assert!(!flag(c"retryWrites") && !flag(c"retryReads"));
        assert_eq!(number(c"heartbeatFrequencyMS"), ASK_EVERY);
        assert_eq!(number(c"socketCheckIntervalMS"), ASK_EVERY);
        assert_eq!(number(c"connectTimeoutMS"), CONNECT_WITHIN);
        assert_eq!(number(c"serverSelectionTimeoutMS"), CONNECT_WITHIN);
        assert_eq!(number(c"socketTimeoutMS"), 9);
    }

    #[test]
    fn the_password_of_a_url_that_is_none_is_not_repeated() {
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        let urls = [
            "mongodb://me:hun:ter2@host/",
            "mongodb://me:hun/ter2@host/",
            "mongodb://me:hun%ter2@host/",
            "mongodb://me:hun@ter2@host/",
            "mongodb://me:hunter2@host?ssl=maybe",
            "mongodb://me:hunter2@host/?ssl=maybe",
            "mongodb://me:hunter2@",
            "mongo://me:hunter2@host/",
            "me:hunter2@host",
            "mongodb://me:hunter2@host:0/",
            "mongodb://me:hun\0ter2@host/",
        ];
        for url in urls {
            let why = Uri::new(library, &Address::from(url)).err().unwrap();
            let tells = why.contains("hun") || why.contains("ter2");
            assert!(!why.is_empty() && !tells, "{url}: {why}");
        }
        let why = |url| Uri::new(library, &Address::from(url)).err().unwrap();
        assert!(why("mongodb://me:hunter2@host/?ssl=maybe").contains("maybe"));
        assert_eq!(why("mongodb://me:hun:ter2@host/"), NOT_ENCODED);
        assert_eq!(why("mongodb://me:hun@ter2@host/"), NOT_ENCODED);
        // What the driver takes for a password is never shown.
        let uri = Uri::new(library, &Address::from("mongodb://me:hun?ter2@host")).unwrap();
        assert_eq!(uri.place, "host");
    }
}
