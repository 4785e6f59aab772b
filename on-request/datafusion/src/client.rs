//! A client, and the error of its last call.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::parquet::errors::ParquetError;
use embermark_abi as abi;

use crate::database::Database;

/// Content of a `struct embermark_client`.
pub(crate) struct Client {
    pub database: Database,
    error: CString,
}

/// Reasons why a call failed.
pub(crate) enum Failure {
    /// Not supported, with a message.
    Unsupported(String),
    /// Any other reason.
    Failed(String),
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        match error.find_root() {
            DataFusionError::NotImplemented(what) => Self::Unsupported(what.clone()),
            _ => Self::Failed(error.strip_backtrace()),
        }
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

pub(crate) type Done<T = ()> = Result<T, Failure>;

thread_local! {
    /// Why the last `open` or `close` failed.
    static ERROR: RefCell<CString> = RefCell::default();
}

pub(crate) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Returns a function that makes a failure of an action.
pub(crate) fn cannot<E: Display>(doing: impl Display) -> impl FnOnce(E) -> Failure {
    move |error| Failure::Failed(format!("cannot {doing}: {error}"))
}

/// The message of a panic as a failure.
fn panicked(message: Box<dyn Any + Send>) -> Failure {
    let text = message.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| message.downcast_ref::<&str>().copied());
    Failure::Failed(format!("DataFusion panicked: {}", text.unwrap_or("without a message")))
}

/// Calls `work`, and turns a panic into a failure, because nothing may unwind into embermark.
fn catch_panic(work: impl FnOnce() -> Done) -> Done {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|message| Err(panicked(message)))
}

fn status(failure: Failure, keep: impl FnOnce(CString)) -> i32 {
    let (status, text) = match failure {
        Failure::Unsupported(text) => (abi::UNSUPPORTED, text),
        Failure::Failed(text) => (abi::FAILED, text),
    };
    keep(c_text(&text));
    status
}

/// Calls `work` with a client's database, and saves its error.
///
/// # Safety
/// The client is one of this library, and nothing else uses it meanwhile.
pub(crate) unsafe fn with_client(
    client: *mut abi::Client,
    work: impl FnOnce(&mut Database) -> Done,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let client = unsafe { &mut *client.cast::<Client>() };
    match catch_panic(|| work(&mut client.database)) {
        Ok(()) => abi::OK,
        Err(failure) => status(failure, |text| client.error = text),
    }
}

/// Calls `work` without a client, and saves its error.
pub(crate) fn catch_without_client(work: impl FnOnce() -> Done) -> i32 {
    match catch_panic(work) {
        Ok(()) => abi::OK,
        Err(failure) => status(failure, |text| ERROR.set(text)),
    }
}

impl Client {
    pub fn into_raw(database: Database) -> *mut abi::Client {
        Box::into_raw(Box::new(Self { database, error: CString::default() })).cast()
    }
}

pub(crate) unsafe extern "C" fn error(client: *mut abi::Client) -> *const c_char {
    if client.is_null() {
        // The text is valid until the next error replaces it.
        return ERROR.with_borrow(|error| error.as_ptr());
    }
    // SAFETY: the caller follows the rules of the header.
    unsafe { (*client.cast::<Client>()).error.as_ptr() }
}
