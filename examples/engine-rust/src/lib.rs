//! redb in a shared library: an engine of `embermark_engine.h` in Rust. embermark has the same
//! engine compiled in (`crates/engines/src/redb.rs`), so the cost of the interface can be measured.
//!
//! ```sh
//! cargo build --release -p embermark-example-redb
//! embermark verify redb-library --engine-library target/release/libembermark_example_redb.so
//! ```

mod scope;
mod tiers;

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::fmt::Display;
use std::mem::size_of;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use embermark_abi::{self as abi, Bytes};
use redb::{Database, DatabaseError, Durability, StorageError, TableDefinition, WriteTransaction};

use scope::Scope;

/// Result of a function: a status of the interface, or an error message.
type CallResult = Result<i32, String>;

/// Content of a `struct embermark_client`.
struct Client {
    /// Dropped before the database is closed.
    scope: Scope,
    db: Arc<Database>,
    commit: Durability,
    cache: u64,
    /// Names of the tables, by number.
    names: Vec<String>,
    /// The value that was returned last.
    value: Vec<u8>,
    error: CString,
}

thread_local! {
    /// Why the last `open` or `close` failed.
    static ERROR: RefCell<CString> = RefCell::default();
}

fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

fn error_during<E: Display>(doing: &str) -> impl FnOnce(E) -> String {
    move |error| format!("cannot {doing}: {error}")
}

fn tree(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}

impl Client {
    /// Begins a write transaction.
    fn start(&self, commit: Durability) -> Result<WriteTransaction, String> {
        let mut txn = self.db.begin_write().map_err(error_during("begin to write"))?;
        txn.set_durability(commit).map_err(error_during("set the durability"))?;
        Ok(txn)
    }

    /// Makes a commit that also makes all earlier commits durable.
    fn make_durable(&self) -> Result<(), String> {
        self.start(Durability::Immediate)?.commit().map_err(error_during("commit"))
    }

    /// Returns the database for exclusive access. Fails while another client has it open.
    fn exclusive(&mut self) -> Result<&mut Database, String> {
        Arc::get_mut(&mut self.db).ok_or_else(|| "another client has the database open".to_owned())
    }

    fn name(&self, table: u32) -> Result<&str, String> {
        let name = self.names.get(table as usize).map(String::as_str);
        name.ok_or_else(|| format!("there is no table {table}"))
    }
}

/// Calls `work` with a client, and saves its error.
///
/// # Safety
/// The client is one of [`into_pointer`], and nothing else uses it meanwhile.
unsafe fn with_client(
    client: *mut abi::Client,
    work: impl FnOnce(&mut Client) -> CallResult,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let client = unsafe { &mut *client.cast::<Client>() };
    match work(client) {
        Ok(status) => status,
        Err(error) => {
            client.error = c_text(&error);
            abi::FAILED
        }
    }
}

fn into_pointer(client: Client) -> *mut abi::Client {
    Box::into_raw(Box::new(client)).cast()
}

/// Calls `work` without a client, and saves its error.
fn without_client(work: impl FnOnce() -> Result<(), String>) -> i32 {
    match work() {
        Ok(()) => abi::OK,
        Err(error) => {
            ERROR.set(c_text(&error));
            abi::FAILED
        }
    }
}

unsafe extern "C" fn open(options: *const abi::Options, client: *mut *mut abi::Client) -> i32 {
    without_client(|| {
        // SAFETY: the caller follows the rules of the header.
        let (options, dir) = unsafe {
            let options = &*options;
            (options, OsStr::from_bytes(CStr::from_ptr(options.dir).to_bytes()))
        };
        let file = Path::new(dir).join("example.redb");
        let cache = usize::try_from(options.memory).unwrap_or(usize::MAX);
        let db = Database::builder().set_cache_size(cache).create(file);
        let db = Arc::new(db.map_err(error_during("open the database"))?);
        let (commit, cache) = (tiers::durability_for(options.tier), options.memory);
        let (names, value, error) = Default::default();
        let opened = Client { scope: Scope::None, db, commit, cache, names, value, error };
        // SAFETY: the caller follows the rules of the header.
        unsafe { *client = into_pointer(opened) };
        Ok(())
    })
}

/// Opens another client of the same database, which the threads share.
unsafe extern "C" fn open_client(first: *mut abi::Client, client: *mut *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(first, |first| {
            let (db, names, scope) = (Arc::clone(&first.db), first.names.clone(), Scope::None);
            let (value, error) = Default::default();
            *client = into_pointer(Client { scope, db, names, value, error, ..*first });
            Ok(abi::OK)
        })
    }
}

/// Closing the last client makes its commits durable.
unsafe extern "C" fn close(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header. The client was made here, and is not
    // used again.
    let mut client = unsafe { Box::from_raw(client.cast::<Client>()) };
    client.scope = Scope::None;
    without_client(
        || if Arc::strong_count(&client.db) == 1 { client.make_durable() } else { Ok(()) },
    )
}

unsafe extern "C" fn error(client: *mut abi::Client) -> *const c_char {
    if client.is_null() {
        // The text is valid until the next error replaces it.
        return ERROR.with_borrow(|error| error.as_ptr());
    }
    // SAFETY: the caller follows the rules of the header.
    unsafe { (*client.cast::<Client>()).error.as_ptr() }
}

unsafe extern "C" fn settings_of(
    client: *mut abi::Client,
    take: abi::TakeSetting,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            let durability = c_text(&format!("{:?} (as set)", client.commit));
            take(context, c"durability".as_ptr(), durability.as_ptr());
            let cache = c_text(&format!("{} bytes (as set)", client.cache));
            take(context, c"cache size".as_ptr(), cache.as_ptr());
            Ok(abi::OK)
        })
    }
}

/// Makes all earlier commits durable, and compacts the file.
unsafe extern "C" fn maintain(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            client.make_durable()?;
            client.exclusive()?.compact().map_err(error_during("compact"))?;
            Ok(abi::OK)
        })
    }
}

unsafe extern "C" fn check(
    client: *mut abi::Client,
    take: abi::TakeFinding,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            let found = match client.exclusive()?.check_integrity() {
                Ok(true) => return Ok(abi::OK),
                Ok(false) => c"the check failed, and the database was repaired".to_owned(),
                Err(DatabaseError::Storage(StorageError::Corrupted(what))) => c_text(&what),
                Err(error) => return Err(error_during("check the database")(error)),
            };
            take(context, found.as_ptr());
            Ok(abi::OK)
        })
    }
}

unsafe extern "C" fn table(
    client: *mut abi::Client,
    name: *const c_char,
    _key_length: u32,
    number: *mut u32,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        let name = CStr::from_ptr(name).to_string_lossy();
        with_client(client, |client| {
            let known = client.names.iter().position(|known| *known == *name);
            if known.is_none() {
                let txn = client.start(client.commit)?;
                txn.open_table(tree(&name)).map_err(error_during("open a table"))?;
                txn.commit().map_err(error_during("commit"))?;
                client.names.push(name.clone().into_owned());
            }
            *number = known.unwrap_or(client.names.len() - 1) as u32;
            Ok(abi::OK)
        })
    }
}

unsafe extern "C" fn clear(client: *mut abi::Client, table: u32) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            let (txn, tree) = (client.start(client.commit)?, tree(client.name(table)?));
            txn.delete_table(tree).map_err(error_during("remove a table"))?;
            txn.open_table(tree).map_err(error_during("open a table"))?;
            txn.commit().map_err(error_during("commit"))?;
            Ok(abi::OK)
        })
    }
}

/// Inserts through a cursor after the last key, which fills page after page without a search.
unsafe extern "C" fn bulk(
    client: *mut abi::Client,
    table: u32,
    next: abi::NextPair,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            let txn = client.start(client.commit)?;
            let mut tree =
                txn.open_table(tree(client.name(table)?)).map_err(error_during("open a table"))?;
            let end = tree.upper_bound_mut(Bound::Unbounded::<&[u8]>);
            let mut end = end.map_err(error_during("append a pair"))?;
            let (mut key, mut value) = (Bytes::NONE, Bytes::NONE);
            while next(context, &raw mut key, &raw mut value) != 0 {
                let appended = end.insert_before(key.as_slice(), value.as_slice());
                appended.map_err(error_during("append a pair"))?;
            }
            end.close().map_err(error_during("append a pair"))?;
            drop(tree);
            txn.commit().map_err(error_during("commit"))?;
            Ok(abi::OK)
        })
    }
}

static KEY_VALUE: abi::KeyValue = abi::KeyValue {
    size: size_of::<abi::KeyValue>() as u32,
    reserved: 0,
    begin: Some(scope::begin),
    commit: Some(scope::commit),
    undo: Some(scope::undo),
    get: Some(scope::get),
    put: Some(scope::put),
    del: Some(scope::del),
    scan: Some(scope::scan),
    table: Some(table),
    clear: Some(clear),
    bulk: Some(bulk),
    modify: Some(scope::modify),
    count: Some(scope::count),
};

static ENGINE: abi::Engine = abi::Engine {
    size: size_of::<abi::Engine>() as u32,
    abi: abi::ABI,
    id: c"redb-library".as_ptr(),
    name: c"redb in a library, an example in Rust".as_ptr(),
    version: c"4, of the example 1.0".as_ptr(),
    licence: c"MIT or Apache-2.0".as_ptr(),
    family: abi::KEY_VALUE,
    flags: abi::READS_BATCH,
    tiers: &raw const tiers::TIERS[0],
    settings: ptr::null(),
    key_value: &raw const KEY_VALUE,
    open: Some(open),
    close: Some(close),
    error: Some(error),
    open_client: Some(open_client),
    settings_of: Some(settings_of),
    maintain: Some(maintain),
    log_bytes: None,
    crash_on_close: None,
    suspend_checkpoints: None,
    check: Some(check),
    check_name: c"Database::check_integrity".as_ptr(),
    exclusive: c"a database that is open is locked: opening it again is DatabaseAlreadyOpen \
                 (https://docs.rs/redb/4/redb/enum.DatabaseError.html)"
        .as_ptr(),
    sql: ptr::null(),
};

/// Returns the engine, or null for another version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn embermark_engine(version: u32) -> *const abi::Engine {
    if version == abi::ABI { &raw const ENGINE } else { ptr::null() }
}
