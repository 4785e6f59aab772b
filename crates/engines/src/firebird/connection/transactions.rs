//! Transactions: the open one, and those of single statements outside of it.

use super::super::api::{self, begin, kind};
use super::{Connection, FbResult};
use crate::sql::Access;

/// A snapshot that changes nothing.
const SNAPSHOT: &[u8] = &[begin::VERSION, begin::READ, begin::CONCURRENCY, begin::NO_WAIT];

/// Sees what is committed, as of the begin of each statement, and waits for rows that another
/// transaction has changed
/// (<https://github.com/FirebirdSQL/firebird/blob/v5.0.4/doc/README.read_consistency.md>).
const CHANGES: &[u8] =
    &[begin::VERSION, begin::WRITE, begin::READ_COMMITTED, begin::READ_CONSISTENCY, begin::WAIT];

/// Like [`CHANGES`], and the engine commits after each statement.
const AUTOCOMMIT: &[u8] = &[
    begin::VERSION,
    begin::WRITE,
    begin::READ_COMMITTED,
    begin::READ_CONSISTENCY,
    begin::WAIT,
    begin::AUTOCOMMIT,
];

/// Transaction in which single statements read. It can stay open, because it does not prevent
/// garbage collection.
const READS: &[u8] =
    &[begin::VERSION, begin::READ, begin::READ_COMMITTED, begin::READ_CONSISTENCY, begin::NO_WAIT];

impl Connection {
    pub fn begin(&self, access: Access) -> FbResult<()> {
        self.end_statement_transactions()?;
        let begun = match access {
            Access::Read => self.start(SNAPSHOT)?,
            Access::Write => self.start(CHANGES)?,
        };
        self.begun.set(Some(begun));
        Ok(())
    }

    pub fn has_begun(&self) -> bool {
        self.begun.get().is_some()
    }

    /// Commits the open transaction. After an error it is still open.
    pub fn commit(&self) -> FbResult<()> {
        let Some(begun) = self.begun.get() else { return Ok(()) };
        self.end(begun, api::Transaction::commit)?;
        self.begun.set(None);
        Ok(())
    }

    pub fn roll_back(&self) -> FbResult<()> {
        let Some(begun) = self.begun.take() else { return Ok(()) };
        // SAFETY: the transaction is alive, and is not used again.
        unsafe { self.close(begun, api::Transaction::rollback, api::Transaction::release) }
    }

    /// Returns the transaction for a statement of this kind.
    #[inline]
    pub fn transaction(&self, of: u32) -> FbResult<api::Transaction> {
        if let Some(begun) = self.begun.get() {
            return Ok(begun);
        }
        let reads = matches!(of, kind::SELECT | kind::SELECT_FOR_UPDATE);
        let (kept, how) = if reads { (&self.reading, READS) } else { (&self.changing, AUTOCOMMIT) };
        match kept.get() {
            Some(kept) => Ok(kept),
            None => {
                let started = self.start(how)?;
                kept.set(Some(started));
                Ok(started)
            }
        }
    }

    /// Ends the transactions of single statements, which have nothing uncommitted.
    pub fn end_statement_transactions(&self) -> FbResult<()> {
        for kept in [&self.reading, &self.changing] {
            if let Some(kept) = kept.take() {
                self.end(kept, api::Transaction::commit)?;
            }
        }
        Ok(())
    }

    fn start(&self, how: &[u8]) -> FbResult<api::Transaction> {
        let attachment = self.attachment()?;
        // SAFETY: the attachment is alive and the parameters have the given length.
        let started =
            unsafe { attachment.start_transaction(self.status, how.len() as _, how.as_ptr()) };
        self.check_object(started)
    }

    /// Ends a transaction. After an error it is still open.
    pub(super) fn end(
        &self,
        transaction: api::Transaction,
        by: unsafe fn(api::Transaction, api::Status),
    ) -> FbResult<()> {
        // SAFETY: the transaction is alive, and is not used after this has succeeded.
        unsafe { by(transaction, self.status) };
        self.check_status(())
    }
}
