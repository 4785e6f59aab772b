//! Transactions.

use embermark_abi as abi;

use crate::client::{Client, run, with_client};

pub(crate) unsafe extern "C" fn begin(client: *mut abi::Client, scope: u32) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |client| {
            let scopes = &mut client.scopes;
            run(if scope == abi::BATCH { &mut scopes.write } else { &mut scopes.read })
        })
    }
}

pub(crate) unsafe extern "C" fn commit(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe { with_client(client, |client| run(&mut client.scopes.commit)) }
}

/// Undoes a transaction. Some errors have already ended it.
pub(crate) unsafe extern "C" fn undo(client: *mut abi::Client) -> i32 {
    let undone = |Client { connection, scopes, .. }: &mut Client| {
        if connection.get_auto_commit() { Ok(()) } else { run(&mut scopes.undo) }
    };
    // SAFETY: the caller follows the rules of the header.
    unsafe { with_client(client, undone) }
}
