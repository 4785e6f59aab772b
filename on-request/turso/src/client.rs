//! A client: a connection, and the error of its last call.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use embermark_abi as abi;
use turso::core::{Connection, Database, LimboError, Row, Statement, StepResult};

/// Content of a `struct embermark_client`.
pub(crate) struct Client {
    /// Statements of transactions, prepared once. Dropped before the connection.
    pub scopes: Scopes,
    pub connection: Arc<Connection>,
    pub db: Arc<Database>,
    pub path: String,
    pub tier: u32,
    pub memory: u64,
    /// Whether its connection is dropped instead of closed, because closing would checkpoint.
    pub crashes: bool,
    /// Whether its automatic checkpoints are off.
    pub suspended: bool,
    pub error: CString,
}

/// Statements of transactions.
pub(crate) struct Scopes {
    pub read: Statement,
    pub write: Statement,
    pub commit: Statement,
    pub undo: Statement,
}

/// Reasons why a call failed.
pub(crate) enum Failure {
    /// A conflict with another client.
    Conflict(String),
    /// Any other reason.
    Failed(String),
}

impl Failure {
    pub fn text(self) -> String {
        match self {
            Self::Conflict(text) | Self::Failed(text) => text,
        }
    }
}

impl From<LimboError> for Failure {
    fn from(error: LimboError) -> Self {
        let text = error.to_string();
        match error {
            LimboError::Busy | LimboError::BusySnapshot | LimboError::TableLocked => {
                Self::Conflict(text)
            }
            _ => Self::Failed(text),
        }
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

pub(crate) fn failed<E: Display>(doing: &str) -> impl FnOnce(E) -> Failure {
    move |error| Failure::Failed(format!("cannot {doing}: {error}"))
}

/// Returns the message of a panic as a failure.
fn panicked(said: Box<dyn Any + Send>) -> Failure {
    let text = said.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| said.downcast_ref::<&str>().copied()).unwrap_or("it says nothing");
    Failure::Failed(format!("Turso panicked: {text}"))
}

/// Calls `work`, and turns a panic into a failure, because nothing may unwind into embermark.
fn catch_panic(work: impl FnOnce() -> Done) -> Done {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|said| Err(panicked(said)))
}

/// Calls `work` with a client, and saves its error.
///
/// # Safety
/// The client is one of this library, and nothing else uses it meanwhile.
pub(crate) unsafe fn with_client(
    client: *mut abi::Client,
    work: impl FnOnce(&mut Client) -> Done,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let client = unsafe { &mut *client.cast::<Client>() };
    let failure = match catch_panic(|| work(client)) {
        Ok(()) => return abi::OK,
        Err(failure) => failure,
    };
    let status = if matches!(failure, Failure::Conflict(_)) { abi::CONFLICT } else { abi::FAILED };
    client.error = c_text(&failure.text());
    status
}

/// Calls `work` without a client, and saves its error.
pub(crate) fn catch_without_client(work: impl FnOnce() -> Done) -> i32 {
    match catch_panic(work) {
        Ok(()) => abi::OK,
        Err(failure) => {
            ERROR.set(c_text(&failure.text()));
            abi::FAILED
        }
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

/// Steps a statement to its next row, or to its end.
pub(crate) fn step(statement: &mut Statement) -> Done<Option<&Row>> {
    loop {
        match statement.step()? {
            StepResult::Row => break,
            StepResult::Done => return Ok(None),
            StepResult::IO | StepResult::Yield => statement._io().step()?,
            StepResult::Sleep { duration } => {
                statement._io().step()?;
                thread::sleep(duration);
            }
            StepResult::Busy => return Err(LimboError::Busy.into()),
            StepResult::Interrupt => return Err(LimboError::Interrupt.into()),
        }
    }
    Ok(statement.row())
}

/// Runs a statement to its end, so that it can be run again even after an error.
pub(crate) fn run(statement: &mut Statement) -> Done {
    let mut ended = Ok(());
    loop {
        match step(statement) {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(failure) => {
                ended = Err(failure);
                break;
            }
        }
    }
    ended.and(statement.reset().map_err(Failure::from))
}
