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
    assert_eq!(uri.place(), path.to_str().unwrap());
}

#[test]
fn servers_are_named_without_the_user() {
    let Ok(library) = library() else { return println!("skipped: no libmongoc") };
    let place = |url: &str| Uri::new(library, &Address::from(url)).unwrap().place();
    assert_eq!(place("mongodb://me:hunter2@one,two:5/?replicaSet=r"), "one:27017, two:5");
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
    // SAFETY: the library that is loaded already, and functions as its header has them.
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
    // What the driver takes for a password is told nowhere.
    let uri = Uri::new(library, &Address::from("mongodb://me:hun?ter2@host")).unwrap();
    assert_eq!(uri.place(), "host:27017");
}
