//! A database: opened, shared by its clients, closed.

use std::ffi::{CStr, c_void};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use embermark_abi as abi;
use turso::core::{Database, OpenOptions, SqliteDialect};

use crate::client::{Client, Done, Scopes, c_text, told, with, without};
use crate::tiers;

/// How long a statement waits for another client's.
const PATIENCE: Duration = Duration::from_secs(60);

/// Settings that matter, as a pragma each.
const SETTINGS: [&CStr; 4] = [c"journal_mode", c"synchronous", c"cache_size", c"page_size"];

/// A further connection, with what its tier needs. A page cache is of a connection.
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

/// Makes the names of the files last: Turso syncs its files, and not the folder that they lie in. (On ext4 nothing was
/// lost without it.)
fn sync_folder(path: &str) -> Done {
    let folder = Path::new(path).parent().unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(told("sync the database's folder"))
}

fn made(client: Client) -> *mut abi::Client {
    Box::into_raw(Box::new(client)).cast()
}

pub(crate) unsafe extern "C" fn open(
    options: *const abi::Options,
    client: *mut *mut abi::Client,
) -> i32 {
    without(|| {
        // SAFETY: as the header has it.
        let (options, dir) = unsafe { (&*options, CStr::from_ptr((*options).dir)) };
        let dir = dir.to_str().map_err(told("open a folder whose name is not UTF-8"))?;
        let path = format!("{dir}/embermark.turso");
        let io = Database::io_for_path(&path)?;
        let db = Database::open(io, &path, OpenOptions::new(Arc::new(SqliteDialect)))?;
        let opened = connected(db, path, options.tier, options.memory)?;
        if options.tier == abi::POWER {
            sync_folder(&opened.path)?;
        }
        // SAFETY: as the header has it.
        unsafe { *client = made(opened) };
        Ok(())
    })
}

pub(crate) unsafe extern "C" fn open_client(
    first: *mut abi::Client,
    client: *mut *mut abi::Client,
) -> i32 {
    // SAFETY: as the header has it.
    unsafe {
        with(first, |first| {
            let mut opened =
                connected(Arc::clone(&first.db), first.path.clone(), first.tier, first.memory)?;
            if first.suspended {
                opened.connection.wal_auto_actions_disable();
                opened.suspended = true;
            }
            *client = made(opened);
            Ok(())
        })
    }
}

/// The last connection that is closed checkpoints; one that is dropped does not.
pub(crate) unsafe extern "C" fn close(client: *mut abi::Client) -> i32 {
    // SAFETY: as the header has it: it was made here, and is not used again.
    let client = unsafe { Box::from_raw(client.cast::<Client>()) };
    without(move || {
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
    // SAFETY: as the header has it.
    unsafe {
        with(client, |client| {
            for name in SETTINGS {
                let rows = client.connection.pragma_query(&name.to_string_lossy())?;
                let value = rows.first().and_then(|row| row.first()).map(ToString::to_string);
                take(context, name.as_ptr(), c_text(&value.unwrap_or_default()).as_ptr());
            }
            Ok(())
        })
    }
}
