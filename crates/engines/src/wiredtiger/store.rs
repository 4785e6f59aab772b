//! The store over the connection's tables.

use std::ffi::{CStr, CString};
use std::ops::ControlFlow;
use std::ptr;

use embermark_model::Durability;

use super::connection::{self, c_string, check};
use super::cursor::Cursor;
use super::{ID, ffi};
use crate::clients::{HandleCount, HandleGuard, Moved, again_if};
use crate::kv::{Direction, KvStore, Pairs, Range, Table, TableDef, Visit};
use crate::{
    Access, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, ShutdownKind,
    Store,
};

/// Keys and values are bytes, as they are; only a new table is made.
const NEW: &CStr = c"key_format=u,value_format=u,exclusive=true";

/// An open database and its tables.
pub(super) struct Trees {
    /// Open until [`Trees::release`] makes it null.
    connection: *mut ffi::Connection,
    /// Closed with the connection; a further client's by itself.
    session: *mut ffi::Session,
    tables: Vec<Tree>,
    access: Option<Access>,
    /// The table whose cursor stands somewhere since a read outside of a transaction.
    standing: Option<usize>,
    logged: bool,
    /// Counts what makes every table old to a bulk cursor: checkpoints and transactions.
    age: u64,
    options: OpenOptions,
    /// A value on its way through [`KvStore::modify`].
    value: Vec<u8>,
    /// What further clients hold.
    handles: HandleCount,
    /// Of a further client, whose connection is another's to close.
    guard: Option<HandleGuard>,
}

struct Tree {
    uri: CString,
    /// The age at which it was made, while no change has touched it: a bulk cursor asks for a table
    /// that neither a change nor a checkpoint nor a transaction has looked into.
    made: Option<u64>,
    /// `None` after a failed [`KvStore::clear`] or [`Lifecycle::reopen`].
    cursors: Option<Cursors>,
}

struct Cursors {
    /// Sets a key whether it is there or not.
    put: Cursor,
    /// Does everything else: it tells a key that is not there.
    other: Cursor,
}

/// Opens a database.
pub(super) fn open(options: &OpenOptions) -> Result<Opened> {
    let (connection, session) = connection::open(options)?;
    let trees = Trees {
        connection,
        session,
        tables: Vec::new(),
        access: None,
        standing: None,
        logged: options.durability != Durability::None,
        age: 0,
        options: options.clone(),
        value: Vec::new(),
        handles: HandleCount::default(),
        guard: None,
    };
    let settings = connection::settings(options)?;
    let version = connection::version();
    Ok(Opened { store: Store::Kv(Box::new(trees)), version, settings, server: None })
}

impl Trees {
    /// Refuses inside of a transaction what must stand alone.
    fn exclusive(&mut self, doing: &str) -> Result<()> {
        if self.access.is_some() {
            return Err(EngineError::failed(ID, doing, "a transaction is open"));
        }
        if self.connection.is_null() {
            return Err(EngineError::failed(ID, doing, "it could not be opened again"));
        }
        self.rest()
    }

    /// Ends the last read outside of a transaction, if its cursor still stands there.
    #[inline]
    fn rest(&mut self) -> Result<()> {
        match self.standing.take() {
            Some(table) => self.cursors(Table(table))?.other.reset(),
            None => Ok(()),
        }
    }

    #[inline]
    fn cursors(&mut self, table: Table) -> Result<&mut Cursors> {
        self.tables[table.0].cursors.as_mut().ok_or_else(lost_table)
    }

    /// The cursors for a change, which commits by itself outside of a transaction.
    #[inline]
    fn changing(&mut self, table: Table) -> Result<&mut Cursors> {
        if self.access == Some(Access::Read) {
            return Err(EngineError::failed(ID, "write", "the transaction was begun to read"));
        }
        self.rest()?;
        self.tables[table.0].made = None;
        self.cursors(table)
    }

    /// Makes a table if it is not there; whether it was made.
    fn create(&self, uri: &CStr) -> Result<bool> {
        // SAFETY: the session is open; both texts live through the call.
        match unsafe { ffi::ember_wt_create(self.session, uri.as_ptr(), NEW.as_ptr()) } {
            libc::EEXIST => Ok(false),
            code => check(code, "create a table").map(|()| true),
        }
    }

    fn open_cursors(&self, uri: &CStr) -> Result<Cursors> {
        // SAFETY: cursors are dropped before the session is closed.
        unsafe {
            Ok(Cursors {
                put: Cursor::open(self.session, uri, c"overwrite=true")?,
                other: Cursor::open(self.session, uri, c"overwrite=false")?,
            })
        }
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.age += 1;
        // SAFETY: the session is open and without a transaction.
        check(unsafe { ffi::ember_wt_checkpoint(self.session) }, "checkpoint")
    }

    /// By a bulk cursor, which needs the table to itself.
    fn load(&self, uri: &CStr, pairs: &mut dyn Pairs) -> Result<u64> {
        // SAFETY: the cursor is closed or dropped before this returns.
        let mut cursor = unsafe { Cursor::open(self.session, uri, c"bulk") }?;
        let mut rows = 0;
        while let Some((key, value)) = pairs.next() {
            cursor.insert(key, value)?;
            rows += 1;
        }
        cursor.close()?;
        Ok(rows)
    }

    fn refuse_if_filled(&mut self, table: Table) -> Result<()> {
        let cursor = &mut self.cursors(table)?.other;
        let filled = cursor.next()?;
        cursor.reset()?;
        if filled {
            return Err(EngineError::failed(ID, "load a table in bulk", "it is not empty"));
        }
        Ok(())
    }

    /// Closes everything; a transaction under way is rolled back.
    fn release(&mut self) -> Result<()> {
        let connection = std::mem::replace(&mut self.connection, ptr::null_mut());
        if connection.is_null() {
            return Ok(());
        }
        self.tables.iter_mut().for_each(|tree| tree.cursors = None);
        if self.guard.is_some() {
            // SAFETY: open, without cursors of ours, and forgotten whatever this returns.
            return check(unsafe { ffi::ember_wt_session_close(self.session) }, "end its session");
        }
        // Left open, where clients would be left without.
        self.handles.refuse(ID, "close the database")?;
        // SAFETY: open, without cursors of ours, and forgotten whatever this returns; the session
        // is closed with it.
        check(unsafe { ffi::ember_wt_close(connection) }, "close the database")
    }
}

/// Whether a change was refused for the sake of another session's: by `WT_ROLLBACK`, after which the
/// manual has it made again (<https://source.wiredtiger.com/11.3.1/error_handling.html>). A change
/// outside of a transaction is rolled back by the library.
fn is_conflict(error: &EngineError) -> bool {
    error.to_string().contains("WT_ROLLBACK")
}

#[cold]
fn lost_table() -> EngineError {
    EngineError::failed(ID, "use a table", "it could not be opened again")
}

impl Drop for Trees {
    fn drop(&mut self) {
        // Nobody is left to tell of an error.
        let _ = self.release();
    }
}

impl Lifecycle for Trees {
    /// By a checkpoint, which the library does not take inside of a transaction.
    fn maintain(&mut self) -> Result<()> {
        if self.access.is_some() {
            return Ok(());
        }
        self.exclusive("come to rest")?;
        self.checkpoint()
    }

    /// The library takes a checkpoint when it is closed
    /// (<https://source.wiredtiger.com/mongodb-4.2/struct_w_t___c_o_n_n_e_c_t_i_o_n.html>, `close`)
    /// and has no way not to.
    fn reopen(&mut self, after: ShutdownKind) -> Result<()> {
        self.exclusive("open the database again")?;
        if after == ShutdownKind::Crash {
            let what = "recovery without the death of its process: closing takes a checkpoint, \
                        which leaves nothing in the log";
            return Err(EngineError::unsupported(ID, what));
        }
        self.handles.refuse(ID, "open the database again")?;
        self.age += 1;
        self.release()?;
        (self.connection, self.session) = connection::open(&self.options)?;
        for table in 0..self.tables.len() {
            let cursors = self.open_cursors(&self.tables[table].uri)?;
            self.tables[table].cursors = Some(cursors);
        }
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "a connection has exclusive access to its database, by a lock of a file \
             (https://source.wiredtiger.com/mongodb-4.4/arch-connection.html)",
        )
    }

    /// Another session of the same connection
    /// (<https://source.wiredtiger.com/mongodb-4.4/threads.html>: a connection is shared by threads, a
    /// session belongs to one).
    fn open_client(&mut self) -> Result<ClientOpener> {
        self.exclusive("let a further client in")?;
        // SAFETY: threads share a connection, as the page above has it.
        let shared = unsafe { Moved::new((self.connection, self.handles.guard())) };
        let (options, logged) = (self.options.clone(), self.logged);
        Ok(ClientOpener::new(move || {
            let (connection, guard) = shared.take();
            let mut session = ptr::null_mut();
            // SAFETY: the connection stays open while `guard` lives.
            let opened = unsafe { ffi::ember_wt_session(connection, &mut session) };
            check(opened, "begin a session")?;
            Ok(Store::Kv(Box::new(Self {
                connection,
                session,
                tables: Vec::new(),
                access: None,
                standing: None,
                logged,
                age: 0,
                options,
                value: Vec::new(),
                handles: HandleCount::default(),
                guard: Some(guard),
            })))
        }))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        let ended = if self.access.take().is_some() {
            // SAFETY: the session is open, in a transaction.
            check(unsafe { ffi::ember_wt_rollback(self.session) }, "roll back")
        } else {
            Ok(())
        };
        if self.connection.is_null() {
            return Ok(());
        }
        let settled = if self.guard.is_some() { Ok(()) } else { self.maintain() };
        ended.and(settled).and(self.release())
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        const DOING: &str = "open a table";
        self.exclusive(DOING)?;
        let uri = c_string(format!("table:{}", def.name), DOING)?;
        if let Some(known) = self.tables.iter().position(|tree| tree.uri == uri) {
            return Ok(Table(known));
        }
        let made = self.create(&uri)?.then_some(self.age);
        let cursors = Some(self.open_cursors(&uri)?);
        self.tables.push(Tree { uri, made, cursors });
        Ok(Table(self.tables.len() - 1))
    }

    /// By a new table: truncating the old one would log it and keep its file.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.exclusive("clear a table")?;
        self.tables[table.0].cursors = None;
        let uri = &self.tables[table.0].uri;
        // SAFETY: the session is open, the table without cursors; the text lives through the call.
        let code = unsafe { ffi::ember_wt_drop(self.session, uri.as_ptr()) };
        // Opened again in any case, so that the table stays usable.
        let made = self.create(uri)?.then_some(self.age);
        let cursors = self.open_cursors(uri)?;
        let tree = &mut self.tables[table.0];
        (tree.made, tree.cursors) = (made, Some(cursors));
        check(code, "remove a table")
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.exclusive("begin a transaction")?;
        self.age += 1;
        // SAFETY: the session is open and without a transaction.
        check(unsafe { ffi::ember_wt_begin(self.session) }, "begin a transaction")?;
        self.access = Some(access);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if self.access.take().is_none() {
            return Err(EngineError::failed(ID, "commit", "no transaction was begun"));
        }
        // SAFETY: the session is open, in a transaction, which ends whatever this returns.
        check(unsafe { ffi::ember_wt_commit(self.session) }, "commit")
    }

    #[inline]
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.rest()?;
        if self.access.is_none() {
            self.standing = Some(table.0);
        }
        let cursor = &mut self.cursors(table)?.other;
        if cursor.find(key)? { cursor.value().map(Some) } else { Ok(None) }
    }

    #[inline]
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let alone = self.access.is_none();
        let cursors = self.changing(table)?;
        again_if(|error| alone && is_conflict(error), || cursors.put.insert(key, value))
    }

    fn modify(
        &mut self,
        table: Table,
        key: &[u8],
        change: &mut dyn FnMut(&mut [u8]),
    ) -> Result<bool> {
        let mut buffer = std::mem::take(&mut self.value);
        let alone = self.access.is_none();
        let changed = self.changing(table).and_then(|cursors| {
            let cursor = &mut cursors.other;
            let mut update = || {
                if !cursor.find(key)? {
                    return Ok(false);
                }
                buffer.clear();
                buffer.extend_from_slice(cursor.value()?);
                change(&mut buffer);
                cursor.update(&buffer).map(|()| true)
            };
            again_if(|error| alone && is_conflict(error), &mut update)
        });
        self.value = buffer;
        if self.access.is_none() {
            self.cursors(table)?.other.reset()?;
        }
        changed
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let alone = self.access.is_none();
        let cursors = self.changing(table)?;
        again_if(|error| alone && is_conflict(error), || cursors.other.remove(key))
    }

    /// The load itself is not logged, so a checkpoint keeps it where a commit is to be kept.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.exclusive("load a table")?;
        if self.tables[table.0].made != Some(self.age) {
            // The library takes a table that was emptied for one that is in use.
            self.refuse_if_filled(table)?;
            self.clear(table)?;
        }
        let tree = &mut self.tables[table.0];
        (tree.made, tree.cursors) = (None, None);
        let uri = &self.tables[table.0].uri;
        let loaded = self.load(uri, pairs);
        self.tables[table.0].cursors = Some(self.open_cursors(uri)?);
        let rows = loaded?;
        if self.logged {
            self.checkpoint()?;
        }
        Ok(rows)
    }

    fn scan(
        &mut self,
        table: Table,
        range: Range<'_>,
        direction: Direction,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.rest()?;
        let cursor = &mut self.cursors(table)?.other;
        cursor.reset()?;
        let visited = match direction {
            Direction::Forward => cursor.forward(range, visit),
            Direction::Backward => cursor.backward(range, visit),
        };
        let ended = cursor.reset();
        let _: ControlFlow<()> = visited?;
        ended
    }
}
