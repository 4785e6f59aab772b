//! The store over the connection's tables.

use std::ffi::{CStr, CString};
use std::rc::Rc;
use std::sync::Arc;

use embermark_model::Durability;

use super::ffi::{self, Connection, Cursor, Refusal, Session, Told};
use super::{ID, TIERS};
use crate::clients::again_if;
use crate::kv::{Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use crate::{
    Availability, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, Scope,
    Store,
};

pub(super) fn availability() -> Availability {
    Availability::Ready { version: ffi::version() }
}

/// Opens or makes a database.
pub(super) fn open(options: &OpenOptions) -> Result<Opened> {
    let row = TIERS.of(options.durability);
    // The library takes a megabyte at least.
    let mut config = format!("create,cache_size={}", options.memory.max(1 << 20));
    row.set.iter().for_each(|(name, values)| config.extend([",", name, "=", values[0]]));
    let connection = Connection::open(&options.dir, &config)?;
    let trees = Trees::new(&connection, options.durability != Durability::None)?;
    let created = ffi::created_with(&options.dir)?;
    let settings = created.iter().filter(|(name, _)| config.contains(&format!("{name}=")));
    let settings = settings.map(|(name, value)| (name.as_str(), value.clone()));
    let opened = Opened::embedded(trees, ffi::version(), settings);
    row.check(ID, options.durability, &opened.settings).map(|()| opened)
}

/// A client of an open database: its tables, and its session.
struct Trees {
    /// Their names, and their cursors where they could be opened after a table was made anew.
    uris: Vec<CString>,
    cursors: Vec<Option<Cursors>>,
    /// Tables that were made and that nothing has looked into: no checkpoint and no operation.
    fresh: Vec<usize>,
    session: Rc<Session>,
    logged: bool,
    /// A value on its way through a change, or given out.
    value: Vec<u8>,
}

impl Trees {
    fn new(connection: &Arc<Connection>, logged: bool) -> Result<Self> {
        let (session, uris, cursors) = (connection.session().told()?, Vec::new(), Vec::new());
        Ok(Self { uris, cursors, fresh: Vec::new(), session, logged, value: Vec::new() })
    }

    /// Does what needs a table without cursors.
    fn apart<T>(
        &mut self,
        Table(table): Table,
        work: impl FnOnce(&Rc<Session>, &CStr) -> ffi::Result<T>,
    ) -> Result<T> {
        let (session, uri) = (&self.session, &*self.uris[table]);
        self.cursors[table] = None;
        let done = work(session, uri);
        // In any case, so that the table stays usable.
        self.cursors[table] = Some(Cursors::open(session, uri).told()?);
        done.told()
    }
}

impl Lifecycle for Trees {
    fn maintain(&mut self) -> Result<()> {
        self.fresh.clear();
        self.session.checkpoint().told()
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "a connection has exclusive access to its database, by a lock of a file \
             (https://source.wiredtiger.com/mongodb-4.4/arch-connection.html)",
        )
    }

    /// Another session of the same connection
    /// (<https://source.wiredtiger.com/mongodb-4.4/threads.html>: a connection is shared by
    /// threads, a session belongs to one).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (connection, logged) = (Arc::clone(&self.session.connection), self.logged);
        Ok(ClientOpener::new(move || Ok(Store::Kv(Box::new(Self::new(&connection, logged)?)))))
    }

    /// The library takes a checkpoint when it is closed
    /// (<https://source.wiredtiger.com/mongodb-4.2/struct_w_t___c_o_n_n_e_c_t_i_o_n.html>, `close`)
    /// and has no way not to.
    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery without the death of its process: closing takes a checkpoint, which \
                    leaves nothing in the log";
        Err(EngineError::unsupported(ID, what))
    }

    fn close(self: Box<Self>) -> Result<()> {
        drop(self.cursors);
        self.session.close().told()
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let uri = CString::new(format!("table:{}", def.name))
            .map_err(|error| EngineError::failed(ID, "open a table", error))?;
        if let Some(known) = self.uris.iter().position(|known| *known == uri) {
            return Ok(Table(known));
        }
        self.fresh.extend(self.session.create(&uri).told()?.then_some(self.uris.len()));
        self.cursors.push(Some(Cursors::open(&self.session, &uri).told()?));
        self.uris.push(uri);
        Ok(Table(self.uris.len() - 1))
    }

    /// By a new table: truncating the old one would log it and keep its file.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.apart(table, |session, uri| session.remove(uri).and_then(|()| session.create(uri)))?;
        self.fresh.push(table.0);
        Ok(())
    }

    /// By a bulk cursor, which wants a fresh table. The load is not logged, so a checkpoint keeps it
    /// where a commit is to be kept.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if !self.fresh.contains(&table.0) {
            if at(&mut self.cursors, table)?.other.has_pairs().told()? {
                return Err(EngineError::failed(ID, "load a table in bulk", "it is not empty"));
            }
            self.clear(table)?;
        }
        self.fresh.retain(|fresh| *fresh != table.0);
        let rows = self.apart(table, |session, uri| session.load(uri, pairs))?;
        if self.logged { self.maintain().map(|()| rows) } else { Ok(rows) }
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        self.fresh.clear();
        let (Self { cursors, session, value, .. }, standing) = (self, None);
        match scope {
            Scope::Snapshot => session.within(|| work(&mut Snapshot(cursors))),
            Scope::Batch => {
                session.within(|| work(&mut Changes::<false> { cursors, standing, value }))
            }
            Scope::PerOperation => {
                let mut alone = Changes::<true> { cursors, standing, value };
                let done = work(&mut alone);
                done.and(alone.rest())
            }
        }
    }
}

/// The cursors of a table, held open.
struct Cursors {
    /// Sets a key whether it is there or not.
    put: Cursor,
    /// Does everything else: it tells a key that is not there.
    other: Cursor,
}

impl Cursors {
    fn open(session: &Rc<Session>, uri: &CStr) -> ffi::Result<Self> {
        let put = session.cursor(uri, c"overwrite=true")?;
        Ok(Self { put, other: session.cursor(uri, c"overwrite=false")? })
    }

    #[inline]
    fn get(&mut self, key: &[u8]) -> ffi::Result<Option<&[u8]>> {
        if self.other.find(key)? { self.other.value().map(Some) } else { Ok(None) }
    }
}

#[inline]
fn at(cursors: &mut [Option<Cursors>], Table(table): Table) -> Result<&mut Cursors> {
    let lost = || EngineError::failed(ID, "use a table", "it could not be made anew");
    cursors[table].as_mut().ok_or_else(lost)
}

/// The operations of a transaction that only reads.
struct Snapshot<'a>(&'a mut [Option<Cursors>]);

impl Operations for Snapshot<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        at(self.0, table)?.get(key).told()
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        at(self.0, table)?.other.walk(range, visit).told()
    }
}

/// The operations of a transaction that writes, or those that are `ALONE`, outside of any.
struct Changes<'a, const ALONE: bool> {
    cursors: &'a mut [Option<Cursors>],
    /// The table whose cursor stands on what was read last, outside of a transaction.
    standing: Option<Table>,
    value: &'a mut Vec<u8>,
}

impl<const ALONE: bool> Changes<'_, ALONE> {
    /// Ends the last read outside of a transaction, so that the next sees what is there by then.
    fn rest(&mut self) -> Result<()> {
        let standing = self.standing.take();
        standing.map_or(Ok(()), |table| at(self.cursors, table)?.other.reset().told())
    }

    /// The cursors of a table for the next operation, which leaves its cursor standing or not.
    fn next(&mut self, table: Table, stands: bool) -> Result<&mut Cursors> {
        if ALONE {
            self.rest()?;
            self.standing = stands.then_some(table);
        }
        at(self.cursors, table)
    }

    /// Makes a change, and again where it was refused that is a transaction of its own.
    fn change<T>(change: impl FnMut() -> ffi::Result<T>) -> Result<T> {
        again_if(|refusal: &Refusal| ALONE && refusal.is_conflict(), change).told()
    }
}

impl<const ALONE: bool> Operations for Changes<'_, ALONE> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.next(table, true)?.get(key).told()
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.next(table, false)?.other.walk(range, visit).told()
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let cursor = &mut self.next(table, false)?.put;
        Self::change(|| cursor.insert(key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.next(table, true)?;
        let (cursors, copy) = (at(self.cursors, table)?, &mut *self.value);
        Self::change(|| {
            let Some(value) = cursors.get(key)? else { return Ok(false) };
            copy.clear();
            copy.extend_from_slice(value);
            change(copy);
            cursors.other.update(copy).map(|()| true)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let cursor = &mut self.next(table, false)?.other;
        Self::change(|| cursor.remove(key))
    }
}
