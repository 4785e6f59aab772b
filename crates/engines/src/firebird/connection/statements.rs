//! Prepared statements, and statements that are run at once.

use std::cell::Cell;
use std::ptr;
use std::rc::{Rc, Weak};

use super::super::api::{self, SQL_DIALECT, kind};
use super::super::failure::IN_USE;
use super::super::script;
use super::{Connection, FbResult, StatementHandle};
use crate::sql::Access;

impl Connection {
    /// Prepares the one statement of `sql`.
    pub fn prepare(&self, sql: &str) -> FbResult<api::Statement> {
        let (attachment, transaction) = (self.attachment()?, self.transaction(kind::SELECT)?);
        let (bytes, text) = (sql.len() as _, sql.as_ptr().cast());
        // SAFETY: attachment and transaction are alive, and the text has the given length.
        let prepared =
            unsafe { attachment.prepare(self.status, transaction, bytes, text, SQL_DIALECT, 0) };
        self.check_object(prepared)
    }

    /// Registers a prepared statement, so that it can be released. Returns its handle.
    pub fn register(&self, statement: api::Statement) -> Rc<StatementHandle> {
        let handle = Rc::new(StatementHandle(Cell::new(Some(statement))));
        let mut prepared = self.prepared.borrow_mut();
        prepared.retain(|handle| handle.strong_count() > 0);
        prepared.push(Rc::downgrade(&handle));
        handle
    }

    /// Releases all prepared statements. Each is prepared again when it runs.
    pub fn release_statements(&self) {
        self.prepared
            .borrow()
            .iter()
            .filter_map(Weak::upgrade)
            .for_each(|handle| handle.release(self));
    }

    /// Runs statements in sequence, in the open transaction, or each in its own.
    pub fn batch(&self, sql: &str) -> FbResult<()> {
        script::statements(sql).try_for_each(|statement| {
            if self.has_begun() {
                return self.execute(statement);
            }
            match self.run_in_transaction(statement) {
                // A table to drop must not be in use by a prepared statement.
                Err(failure) if failure.is_of(&IN_USE) => {
                    self.release_statements();
                    self.run_in_transaction(statement)
                }
                done => done,
            }
        })
    }

    fn run_in_transaction(&self, sql: &str) -> FbResult<()> {
        self.begin(Access::Write)?;
        let done = self.execute(sql).and_then(|()| self.commit());
        if done.is_err() {
            // The first error is the one to report.
            let _ = self.roll_back();
        }
        done
    }

    /// Runs one statement without parameters in the open transaction. Rows are not fetched.
    fn execute(&self, sql: &str) -> FbResult<()> {
        let statement = self.prepare(sql)?;
        let transaction = self.transaction(kind::DEFINE)?;
        let (status, none) = (self.status, ptr::null_mut());
        // SAFETY: the statement is alive and has no parameters; nothing of a row that it returns is
        // written anywhere.
        unsafe { statement.execute(status, transaction, None, none, None, none) };
        let done = self.check_status(());
        self.free(statement);
        done
    }

    /// Frees a statement that is not used again.
    pub fn free(&self, statement: api::Statement) {
        // SAFETY: it is alive. An error does not matter, because it is released then.
        let _ = unsafe { self.close(statement, api::Statement::free, api::Statement::release) };
    }
}
