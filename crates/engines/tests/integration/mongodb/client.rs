//! A second client of a server: MongoDB's C driver by its simplest calls, with commands and answers
//! as JSON. It shares only the library with the engine.

#![allow(dead_code, reason = "each test file uses its part")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use libloading::{Library, Symbol};
use serde_json::Value;

/// A `bson_t`, opaque.
#[repr(C, align(128))]
struct Bson([u8; 128]);

/// A `bson_error_t`: two numbers, and a text that ends with a NUL.
#[repr(C, align(8))]
struct BsonError([u8; 512]);

impl BsonError {
    fn words(&self) -> String {
        CStr::from_bytes_until_nul(&self.0[8..]).unwrap().to_string_lossy().into_owned()
    }
}

type Pointer = *mut c_void;
type NewClient = unsafe extern "C" fn(*const c_char) -> Pointer;
type Command = unsafe extern "C" fn(
    Pointer,
    *const c_char,
    *const Bson,
    *const c_void,
    *mut Bson,
    *mut BsonError,
) -> bool;
type FromJson = unsafe extern "C" fn(*const c_char, isize, *mut BsonError) -> *mut Bson;
type AsJson = unsafe extern "C" fn(*const Bson, *mut usize) -> *mut c_char;

/// A connection to a server.
pub struct Client {
    library: Library,
    handle: Pointer,
}

impl Client {
    /// Connects to a URL. The engine has loaded the library before.
    pub fn new(url: &str) -> Self {
        let url = CString::new(url).unwrap();
        // SAFETY: functions as the library's headers declare them.
        unsafe {
            let library = Library::new("libmongoc-1.0.so.0").unwrap();
            let new: Symbol<NewClient> = library.get("mongoc_client_new").unwrap();
            let handle = new(url.as_ptr());
            assert!(!handle.is_null(), "{url:?}");
            Self { library, handle }
        }
    }

    /// Returns the answer to a command, with integers as in JSON. (The command is a text, because
    /// its first name decides which command it is.)
    pub fn run(&self, database: &str, command: &str) -> Value {
        self.answer(database, command, "bson_as_relaxed_extended_json")
    }

    /// Returns the server's databases, without the one that it makes by itself a moment after its
    /// start.
    pub fn databases(&self) -> Vec<String> {
        let answer = self.run("admin", r#"{"listDatabases": 1, "nameOnly": true}"#);
        let names = answer["databases"].as_array().unwrap().iter();
        let names = names.map(|database| database["name"].as_str().unwrap().to_owned());
        names.filter(|name| name != "config").collect()
    }

    /// Returns the answer to a command, in which each number has its type.
    pub fn run_typed(&self, database: &str, command: &str) -> Value {
        self.answer(database, command, "bson_as_canonical_extended_json")
    }

    fn answer(&self, database: &str, json: &str, as_json: &str) -> Value {
        let database = CString::new(database).unwrap();
        let (mut reply, mut error) = (Bson([0; 128]), BsonError([0; 512]));
        // SAFETY: as above; what the library has made is freed by it.
        unsafe {
            let from_json: Symbol<FromJson> = self.library.get("bson_new_from_json").unwrap();
            let run: Symbol<Command> = self.library.get("mongoc_client_command_simple").unwrap();
            let as_json: Symbol<AsJson> = self.library.get(as_json).unwrap();
            let destroy: Symbol<unsafe extern "C" fn(*mut Bson)> =
                self.library.get("bson_destroy").unwrap();
            let free: Symbol<unsafe extern "C" fn(*mut c_char)> =
                self.library.get("bson_free").unwrap();
            let length = json.len().cast_signed();
            let wanted = from_json(json.as_ptr().cast(), length, &raw mut error);
            assert!(!wanted.is_null(), "{json}: {}", error.words());
            let name = database.as_ptr();
            let reply = &raw mut reply;
            let is_done = run(self.handle, name, wanted, null(), reply, &raw mut error);
            assert!(is_done, "{json}: {}", error.words());
            let text = as_json(reply, null_mut());
            let answer = serde_json::from_slice(CStr::from_ptr(text).to_bytes()).unwrap();
            free(text);
            destroy(reply);
            destroy(wanted);
            answer
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: as above; the client was made by the library.
        unsafe {
            let destroy: Symbol<unsafe extern "C" fn(Pointer)> =
                self.library.get("mongoc_client_destroy").unwrap();
            destroy(self.handle);
        }
    }
}
