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
    session: Handle,
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
    pub fn connect(library: &'static MongoLib, uri: &Uri) -> Result<Self, Failure> {
        let mongoc = &library.mongoc;
        let mut error = BsonError::none();
        // SAFETY: a URI of the driver, which it copies, and room for an error. The client is ours
        // to destroy by that function, and so is a session, which does not exist yet.
        let (client, session) = unsafe {
            let client = (mongoc.client_new_from_uri_with_error)(uri.handle.raw, &raw mut error);
            (
                Handle::new(client, mongoc.client_destroy),
                Handle::new(ptr::null_mut(), mongoc.client_session_destroy),
            )
        };
        if client.raw.is_null() {
            return Err(Failure::new(error.message()));
        }
        let (options, reply) = (Owned::empty(library), Owned::empty(library));
        let mut this = Self { library, session, client, options, reply };
        this.begin_session()?;
        Ok(this)
    }

    /// Connects, because beginning a session requires it.
    fn begin_session(&mut self) -> Result<(), Failure> {
        let mongoc = &self.library.mongoc;
        let mut error = BsonError::none();
        // SAFETY: a client of the driver; the session's options are made, read and destroyed here.
        self.session.raw = unsafe {
            let plain = (mongoc.session_opts_new)();
            // As in the session of a single command.
            (mongoc.session_opts_set_causal_consistency)(plain, false);
            let session = (mongoc.client_start_session)(self.client.raw, plain, &raw mut error);
            (mongoc.session_opts_destroy)(plain);
            session
        };
        let is_begun = if self.session.raw.is_null() {
            (error.domain, error.code) == NO_SESSIONS
        } else {
            let options = self.options.bson();
            // SAFETY: the client's own session, and a document of our own that can grow.
            unsafe { (mongoc.client_session_append)(self.session.raw, options, &raw mut error) }
        };
        if is_begun { Ok(()) } else { Err(Failure::new(error.message())) }
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
            (self.library.bson.destroy)(self.reply.bson());
            (self.library.mongoc.client_command_with_opts)(
                self.client.raw,
                database.as_ptr(),
                framed,
                ptr::null_mut(),
                self.options.bson(),
                self.reply.bson(),
                &raw mut error,
            )
        };
        let answer = self.reply.document();
        if is_done {
            return answer;
        }
        Err(answer
            .ok()
            .and_then(Failure::from_answer)
            .unwrap_or_else(|| Failure::new(error.message())))
    }
}
