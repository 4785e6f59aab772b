//! Maintenance, the log, recovery, and the check.

use std::ffi::c_void;
use std::fs;

use embermark_abi as abi;
use turso::core::{CheckpointMode, LimboError};

use crate::client::{c_text, with_client};

/// Updates the statistics first, so that they are in the file too.
pub(crate) unsafe extern "C" fn maintain(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            client.connection.execute("ANALYZE")?;
            client
                .connection
                .checkpoint(CheckpointMode::Truncate { upper_bound_inclusive: None })?;
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn log_bytes(client: *mut abi::Client, bytes: *mut u64) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            *bytes = fs::metadata(format!("{}-wal", client.path)).map_or(0, |file| file.len());
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn crash_on_close(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            client.crashes = true;
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn suspend_checkpoints(client: *mut abi::Client, _bytes: u64) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            client.connection.wal_auto_actions_disable();
            client.suspended = true;
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn check(
    client: *mut abi::Client,
    take: abi::TakeFinding,
    context: *mut c_void,
) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            let rows = match client.connection.pragma_query("integrity_check") {
                Ok(rows) => rows,
                // Damage at which the check stops.
                Err(LimboError::Corrupt(what)) => {
                    take(context, c_text(&what).as_ptr());
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            };
            // There is one row if nothing is wrong.
            for found in
                rows.iter().flatten().map(ToString::to_string).filter(|found| found != "ok")
            {
                take(context, c_text(&found).as_ptr());
            }
            Ok(())
        })
    }
}
