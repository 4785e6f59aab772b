//! A connection to a server, through the driver's interface for a single thread, which has no
//! threads of its own, and no heartbeat in the middle of the work.

use std::ffi::CStr;
use std::ptr;

use super::answer::Document;
use super::api::{Bson, BsonError, NO_SESSIONS};
use super::failure::Failure;
use super::library::MongoLib;
use super::owned::Owned;
use super::uri::Uri;
use crate::owned::Owned as Handle;

/// A `mongoc_client_t`, with the session of all its commands. (Without one the driver begins and
/// ends a session with each command.)
pub(super) struct Client {
    library: &'static MongoLib,
    /// A `mongoc_client_session_t`, or null where the server has no sessions. It is dropped first,
    /// and so ends before its client.
    _session: Handle,
    client: Handle,
    /// Options of every command: this session.
    options: Owned,
    /// Answer to the last command.
    reply: Owned,
}

// SAFETY: a client is used by one thread at a time, which need not be the one that made it
// (<https://mongoc.org/libmongoc/1.23.1/mongoc_client_t.html>, "Thread Safety"), and nothing of it
// is reachable except through its one owner.
unsafe impl Send for Client {}

impl Client {
    /// Connects to the server in a URI.
    pub fn connect(uri: &Uri) -> Result<Self, Failure> {
        let (library, uri, mut error) = (uri.library, uri.handle.raw, BsonError::none());
        let mongoc = &library.mongoc;
        // SAFETY: a URI of the driver, which it copies, and room for an error.
        let client = unsafe { (mongoc.client_new_from_uri_with_error)(uri, &raw mut error) };
        // SAFETY: it is ours to destroy, by that function.
        let client = unsafe { Handle::new(client, mongoc.client_destroy) };
        if client.raw.is_null() {
            return Err(Failure::new(error.message()));
        }
        let (mut options, reply) = (Owned::empty(library), Owned::empty(library));
        let session = begin_session(library, &client, &mut options)?;
        Ok(Self { library, _session: session, client, options, reply })
    }

    /// Runs a command on a database once, and returns the answer. A write that the server refused
    /// is not an error here: its answer reports it.
    pub fn run(&mut self, database: &CStr, command: &[u8]) -> Result<Document<'_>, Failure> {
        let (mut framed, mut error) = (Bson::room(), BsonError::none());
        // SAFETY: the bytes outlive the frame, which has no memory of its own and stays where it
        // is. The driver initialises the reply whatever happens, so the previous one is destroyed
        // first. No preferences are given, as for every command that may write.
        let is_done = unsafe {
            let framed = &raw mut framed;
            if !(self.library.bson.init_static)(framed, command.as_ptr(), command.len()) {
                return Err(Failure::new("the command is not well-formed BSON"));
            }
            let (client, no_preferences) = (self.client.raw, ptr::null_mut());
            let (options, reply) = (self.options.bson(), self.reply.bson());
            let (database, error) = (database.as_ptr(), &raw mut error);
            (self.library.bson.destroy)(reply);
            let run = self.library.mongoc.client_command_with_opts;
            run(client, database, framed, no_preferences, options, reply, error)
        };
        let answer = self.reply.document();
        if is_done {
            return answer;
        }
        let failure = answer.ok().and_then(Failure::from_answer);
        Err(failure.unwrap_or_else(|| Failure::new(error.message())))
    }
}

/// Connects, because beginning a session requires it, and adds the session to `options`.
fn begin_session(
    library: &'static MongoLib,
    client: &Handle,
    options: &mut Owned,
) -> Result<Handle, Failure> {
    let (mongoc, mut error) = (&library.mongoc, BsonError::none());
    // SAFETY: a client of the driver; the session's options are made, read and destroyed here. The
    // session is ours to destroy, by that function.
    let session = unsafe {
        let plain = (mongoc.session_opts_new)();
        // As in the session of a single command.
        (mongoc.session_opts_set_causal_consistency)(plain, false);
        let session = (mongoc.client_start_session)(client.raw, plain, &raw mut error);
        (mongoc.session_opts_destroy)(plain);
        Handle::new(session, mongoc.client_session_destroy)
    };
    let is_begun = if session.raw.is_null() {
        (error.domain, error.code) == NO_SESSIONS
    } else {
        // SAFETY: the client's own session, and a document of our own that can grow.
        unsafe { (mongoc.client_session_append)(session.raw, options.bson(), &raw mut error) }
    };
    if is_begun { Ok(session) } else { Err(Failure::new(error.message())) }
}
