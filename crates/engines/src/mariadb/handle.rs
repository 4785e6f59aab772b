//! A prepared statement of the library.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::rc::Rc;

use super::api::{Api, Bind, Raw};
use super::connection::Connection;
use super::failure::Failure;

/// A statement prepared by the server. Closed when dropped, before its connection.
pub(super) struct Handle {
    raw: NonNull<c_void>,
    pub connection: Rc<Connection>,
}

impl Handle {
    /// Prepares the one statement of `sql`.
    pub fn prepare(connection: &Rc<Connection>, sql: &str) -> Result<Self, Failure> {
        let api = connection.api();
        // SAFETY: the connection is open, and kept so by the handle.
        let raw = unsafe { (api.stmt_init)(connection.raw()) };
        let raw = NonNull::new(raw).ok_or_else(|| connection.failure())?;
        let handle = Self { raw, connection: Rc::clone(connection) };
        // SAFETY: the text has the given length.
        let code = unsafe { (api.stmt_prepare)(handle.raw(), sql.as_ptr().cast(), sql.len() as _) };
        handle.done(code)?;
        Ok(handle)
    }

    pub fn api(&self) -> &'static Api {
        self.connection.api()
    }

    pub fn raw(&self) -> Raw {
        self.raw.as_ptr()
    }

    pub fn parameters(&self) -> usize {
        // SAFETY: the statement is alive.
        unsafe { (self.api().stmt_param_count)(self.raw()) as usize }
    }

    /// Sets where the parameters of later executions are.
    ///
    /// # Safety
    /// There must be one for each parameter, and what they point to must be alive at every
    /// execution.
    pub unsafe fn bind(&self, binds: &mut [Bind]) -> Result<(), Failure> {
        // SAFETY: the library copies the structures; the rest is the caller's promise.
        self.done(unsafe { (self.api().stmt_bind_param)(self.raw(), binds.as_mut_ptr()) })
    }

    /// Executes it. Its result must be read before anything else runs.
    ///
    /// # Safety
    /// What its parameters were bound to must be alive.
    pub unsafe fn execute(&self) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        self.done(unsafe { (self.api().stmt_execute)(self.raw()) })
    }

    /// Returns the error of a call, unless it returned 0.
    #[inline]
    pub fn done(&self, code: impl Into<c_int>) -> Result<(), Failure> {
        if code.into() == 0 { Ok(()) } else { Err(self.failure()) }
    }

    /// Returns how many rows the last execution changed.
    pub fn changed(&self) -> u64 {
        // SAFETY: the statement is alive.
        unsafe { (self.api().stmt_affected_rows)(self.raw()) }
    }

    /// Returns the error of the last call. The library reports errors while rows are fetched only
    /// on the connection.
    pub fn failure(&self) -> Failure {
        let (api, raw) = (self.api(), self.raw());
        // SAFETY: the library keeps both texts of a statement until the next call.
        unsafe {
            match (api.stmt_errno)(raw) {
                0 => self.connection.failure(),
                code => Failure::read(code, (api.stmt_sqlstate)(raw), (api.stmt_error)(raw)),
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is not used again. It does not matter if the server could not be told: it
        // forgets statements with their connection.
        unsafe { (self.api().stmt_close)(self.raw()) };
    }
}
