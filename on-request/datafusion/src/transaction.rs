//! Transactions. Their rows are in memory until the commit writes them to a file.

use std::mem;

use embermark_abi as abi;

use crate::client::with_client;
use crate::database::{Database, StoredTable};
use crate::failure::{Done, Failure};

impl Database {
    /// Adds rows to a table, in the open transaction or in one of their own.
    pub fn change(&mut self, table: &str, work: impl FnOnce(&mut StoredTable) -> Done) -> Done {
        if self.changed.as_deref().is_some_and(|other| other != table) {
            let what = "to change two tables in one transaction: each has a file of its own";
            return Err(Failure::Unsupported(what.to_owned()));
        }
        self.changed = Some(table.to_owned());
        let done = self.stored(table).and_then(work);
        if done.is_err() {
            self.roll_back();
            return done;
        }
        if self.in_transaction { Ok(()) } else { self.commit() }
    }

    /// Lets queries find the rows of the open transaction.
    pub fn show_changes(&mut self) -> Done {
        if let Some(name) = &self.changed
            && let Some(stored) = self.tables.get_mut(name)
        {
            stored.source.new_rows().extend(stored.columns.take()?);
        }
        Ok(())
    }

    /// Commits, or removes the whole transaction.
    fn commit(&mut self) -> Done {
        let done = self.keep_changes();
        self.roll_back();
        done
    }

    fn keep_changes(&mut self) -> Done {
        self.show_changes()?;
        let Some(table) = self.changed.take() else { return Ok(()) };
        let rows = mem::take(&mut *self.stored(&table)?.source.new_rows());
        self.write(&table, &rows)?;
        self.merge_commits(&table)
    }

    fn roll_back(&mut self) {
        self.in_transaction = false;
        if let Some(name) = self.changed.take()
            && let Some(stored) = self.tables.get_mut(&name)
        {
            stored.columns.clear();
            stored.source.new_rows().clear();
        }
    }
}

pub(crate) unsafe extern "C" fn begin(client: *mut abi::Client, _scope: u32) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |database| {
            database.in_transaction = true;
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn commit(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe { with_client(client, Database::commit) }
}

pub(crate) unsafe extern "C" fn undo(client: *mut abi::Client) -> i32 {
    // SAFETY: the caller follows the rules of the header.
    unsafe {
        with_client(client, |database| {
            database.roll_back();
            Ok(())
        })
    }
}
