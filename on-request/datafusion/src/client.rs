//! A client: opening, settings, maintenance, closing, and the error of its last call.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use embermark_abi as abi;

use crate::database::Database;
use crate::failure::{Done, Failure, cannot};
use crate::settings::{PARTITIONS, PUSHDOWN, read_settings};

/// Content of a `struct embermark_client`.
struct Client {
    database: Database,
    error: CString,
}

thread_local! {
    /// Why the last `open` or `close` failed.
    static ERROR: RefCell<CString> = RefCell::default();
}

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
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
fn catch_without_client(work: impl FnOnce() -> Done) -> i32 {
    match catch_panic(work) {
        Ok(()) => abi::OK,
        Err(failure) => status(failure, |text| ERROR.set(text)),
    }
}

impl Client {
    fn into_raw(database: Database) -> *mut abi::Client {
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

pub(crate) unsafe extern "C" fn open(
    options: *const abi::Options,
    client: *mut *mut abi::Client,
) -> i32 {
    catch_without_client(|| {
        // SAFETY: the caller follows the rules of the header.
        let (options, dir, given) = unsafe {
            (&*options, CStr::from_ptr((*options).dir), read_settings((*options).settings))
        };
        let dir = dir.to_str().map_err(cannot("open a folder whose name is not UTF-8"))?;
        let database = Database::open(dir.into(), options.tier, options.memory, &given)?;
        // SAFETY: the caller follows the rules of the header.
        unsafe { *client = Client::into_raw(database) };
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn close(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header. The client was made here, and is not
    // used again.
    let client = unsafe { Box::from_raw(client.cast::<Client>()) };
    catch_without_client(move || {
        drop(client);
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn settings_of(
    client: *mut abi::Client,
    take: abi::TakeSetting,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |database| {
            for (name, value) in &database.as_set {
                take(context, name.as_ptr(), c_text(&format!("{value} (as set)")).as_ptr());
            }
            let entries = database.state.config_options().entries();
            let entries = entries.into_iter().chain(database.state.runtime_env().config_entries());
            let shown = |name: &str| {
                [PARTITIONS, PUSHDOWN].iter().any(|known| known.to_bytes() == name.as_bytes())
                    || name == "datafusion.runtime.metadata_cache_limit"
            };
            for entry in entries.filter(|entry| shown(&entry.key)) {
                let value = c_text(&entry.value.unwrap_or_default());
                take(context, c_text(&entry.key).as_ptr(), value.as_ptr());
            }
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn maintain(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe { with_client(client, Database::merge_all) }
}
