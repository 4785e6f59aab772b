//! A database: opening, sharing between clients, closing.

use std::ffi::{CStr, c_void};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use embermark_abi as abi;
use turso::core::{Database, OpenOptions, SqliteDialect};

use crate::client::{Client, Done, Scopes, c_text, catch_without_client, failed, with_client};
use crate::tiers;

/// Time that a statement waits for another client's.
const PATIENCE: Duration = Duration::from_secs(60);

/// Settings that matter. Each is a pragma.
const SETTINGS: [&CStr; 4] = [c"journal_mode", c"synchronous", c"cache_size", c"page_size"];

/// Opens another connection, with the settings of its tier. Each connection has its own page cache.
fn connected(db: Arc<Database>, path: String, tier: u32, memory: u64) -> Done<Client> {
    let connection = db.connect()?;
    connection.set_busy_timeout(PATIENCE);
    connection.pragma_update("synchronous", tiers::synchronous(tier))?;
    connection.pragma_update("cache_size", format!("-{}", memory / 1024))?;
    let scopes = Scopes {
        read: connection.prepare("BEGIN")?,
        write: connection.prepare("BEGIN IMMEDIATE")?,
        commit: connection.prepare("COMMIT")?,
        undo: connection.prepare("ROLLBACK")?,
    };
    let (crashes, suspended, error) = Default::default();
    Ok(Client { scopes, connection, db, path, tier, memory, crashes, suspended, error })
}

/// Makes the names of the files durable. Turso syncs its files, but not their folder. (On ext4
/// nothing was lost without this.)
fn sync_folder(path: &str) -> Done {
    let folder = Path::new(path).parent().unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed("sync the database's folder"))
}

fn into_raw(client: Client) -> *mut abi::Client {
    Box::into_raw(Box::new(client)).cast()
}

pub(crate) unsafe extern "C" fn open(
    options: *const abi::Options,
    client: *mut *mut abi::Client,
) -> i32 {
    catch_without_client(|| {
        // SAFETY: the caller follows the rules of the header.
        let (options, dir) = unsafe { (&*options, CStr::from_ptr((*options).dir)) };
        let dir = dir.to_str().map_err(failed("open a folder whose name is not UTF-8"))?;
        let path = format!("{dir}/embermark.turso");
        let io = Database::io_for_path(&path)?;
        let db = Database::open(io, &path, OpenOptions::new(Arc::new(SqliteDialect)))?;
        let opened = connected(db, path, options.tier, options.memory)?;
        if options.tier == abi::POWER {
            sync_folder(&opened.path)?;
        }
        // SAFETY: the caller follows the rules of the header.
        unsafe { *client = into_raw(opened) };
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn open_client(
    first: *mut abi::Client,
    client: *mut *mut abi::Client,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(first, |first| {
            let mut opened =
                connected(Arc::clone(&first.db), first.path.clone(), first.tier, first.memory)?;
            if first.suspended {
                opened.connection.wal_auto_actions_disable();
                opened.suspended = true;
            }
            *client = into_raw(opened);
            Ok(())
        })
    }
}

/// Closes a client. Closing the last connection checkpoints. Dropping it does not.
pub(crate) unsafe extern "C" fn close(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header. The client was made here, and is not
    // used again.
    let client = unsafe { Box::from_raw(client.cast::<Client>()) };
    catch_without_client(move || {
        let Client { scopes, connection, crashes, .. } = *client;
        drop(scopes);
        if !crashes {
            connection.close()?;
        }
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
        with_client(client, |client| {
            for name in SETTINGS {
                let rows = client.connection.pragma_query(&name.to_string_lossy())?;
                let value = rows.first().and_then(|row| row.first()).map(ToString::to_string);
                take(context, name.as_ptr(), c_text(&value.unwrap_or_default()).as_ptr());
            }
            Ok(())
        })
    }
}
