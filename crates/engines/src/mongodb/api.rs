//! The functions of MongoDB's C driver that are used, as its headers `mongoc/mongoc.h` and
//! `bson/bson.h` declare them: <https://mongoc.org/libmongoc/1.23.1/api.html>.

use std::ffi::{CStr, c_char, c_void};

use crate::library::functions;

/// A `mongoc_client_t`, `mongoc_uri_t`, and so on: pointers to the driver's objects.
pub(super) type Handle = *mut c_void;

/// A `bson_t`, a document, with the header's layout, which lets the caller allocate one. An
/// initialised one can contain its own address, and must not be moved.
#[repr(C, align(128))]
pub(super) struct Bson {
    flags: u32,
    /// Bytes of the document.
    pub len: u32,
    within: [u8; 120],
}

impl Bson {
    /// Returns memory for one, to be initialised.
    pub const fn room() -> Self {
        Self { flags: 0, len: 0, within: [0; 120] }
    }
}

/// A `bson_error_t`.
#[repr(C, align(8))]
pub(super) struct BsonError {
    pub domain: u32,
    pub code: u32,
    message: [c_char; 504],
}

impl BsonError {
    /// Returns an empty error.
    pub const fn none() -> Self {
        Self { domain: 0, code: 0, message: [0; 504] }
    }

    pub fn message(&self) -> String {
        // SAFETY: the driver ends its text with a NUL; without an error there are only NULs.
        unsafe { CStr::from_ptr(self.message.as_ptr()) }.to_string_lossy().into_owned()
    }
}

/// Error of a server without sessions: its domain, `MONGOC_ERROR_CLIENT`, and its code,
/// `MONGOC_ERROR_CLIENT_SESSION_FAILURE`.
pub(super) const NO_SESSIONS: (u32, u32) = (1, 52);

functions! {
    /// The driver's functions, without the `mongoc_` of their names.
    pub(super) struct MongocApi of "mongoc_";

    init();
    get_version() -> *const c_char;
    log_set_handler(handler: *const c_void, data: *mut c_void);

    uri_new_with_error(text: *const c_char, error: *mut BsonError) -> Handle;
    uri_destroy(uri: Handle);
    uri_has_option(uri: Handle, name: *const c_char) -> bool;
    uri_set_option_as_int32(uri: Handle, name: *const c_char, value: i32) -> bool;
    uri_set_option_as_bool(uri: Handle, name: *const c_char, value: bool) -> bool;
    uri_set_appname(uri: Handle, name: *const c_char) -> bool;

    client_new_from_uri_with_error(uri: Handle, error: *mut BsonError) -> Handle;
    client_destroy(client: Handle);
    client_command_with_opts(
        client: Handle, database: *const c_char, command: *const Bson, preferences: Handle,
        options: *const Bson, reply: *mut Bson, error: *mut BsonError
    ) -> bool;

    session_opts_new() -> Handle;
    session_opts_set_causal_consistency(options: Handle, on: bool);
    session_opts_destroy(options: Handle);
    client_start_session(client: Handle, options: Handle, error: *mut BsonError) -> Handle;
    client_session_append(session: Handle, options: *mut Bson, error: *mut BsonError) -> bool;
    client_session_destroy(session: Handle);
}

functions! {
    /// The functions of its BSON library, without the `bson_` of their names.
    pub(super) struct BsonApi of "bson_";

    init(bson: *mut Bson);
    init_static(bson: *mut Bson, data: *const u8, length: usize) -> bool;
    init_from_json(
        bson: *mut Bson, json: *const c_char, length: isize, error: *mut BsonError
    ) -> bool;
    get_data(bson: *const Bson) -> *const u8;
    destroy(bson: *mut Bson);
}
