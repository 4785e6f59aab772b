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
    let settings = settings.map(|(name, value)| (&**name, value.clone()));
    let opened = Opened::embedded(trees, ffi::version(), settings);
    row.check(ID, &opened.settings).map(|()| opened)
}

/// A client of an open database: its tables, and its session.
struct Trees {
    /// Their names, and their cursors where they could be opened after a table was made anew.
    uris: Vec<CString>,
    cursors: Vec<Option<Cursors>>,
    session: Rc<Session>,
    logged: bool,
    /// A value on its way through a change, or given out.
    value: Vec<u8>,
}

impl Trees {
    fn new(connection: &Arc<Connection>, logged: bool) -> Result<Self> {
        let (session, value) = (connection.session().told()?, Vec::new());
        Ok(Self { uris: Vec::new(), cursors: Vec::new(), session, logged, value })
    }

    /// Makes a table anew, and fills it.
    fn renew<T>(
        &mut self,
        Table(table): Table,
        fill: impl FnOnce(&Rc<Session>, &CStr) -> ffi::Result<T>,
    ) -> Result<T> {
        let (session, uri) = (&self.session, &*self.uris[table]);
        self.cursors[table] = None;
        let made = session.remove(uri).and_then(|()| session.create(uri));
        let filled = made.and_then(|()| fill(session, uri));
        // In any case, so that the table stays usable.
        self.cursors[table] = Some(Cursors::open(session, uri).told()?);
        filled.told()
    }
}

impl Lifecycle for Trees {
    fn maintain(&mut self) -> Result<()> {
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
        self.session.create(&uri).told()?;
        self.cursors.push(Some(Cursors::open(&self.session, &uri).told()?));
        self.uris.push(uri);
        Ok(Table(self.uris.len() - 1))
    }

    /// By a new table: truncating the old one would log it and keep its file.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.renew(table, |_, _| Ok(()))
    }

    /// By a bulk cursor, which wants a table that neither a change nor a checkpoint nor a
    /// transaction has looked into. The load is not logged, so a checkpoint keeps it where a commit
    /// is to be kept.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        if at(&mut self.cursors, table)?.other.has_pairs().told()? {
            return Err(EngineError::failed(ID, "load a table in bulk", "it is not empty"));
        }
        let rows = self.renew(table, |session, uri| session.load(uri, pairs))?;
        if self.logged { self.session.checkpoint().map(|()| rows).told() } else { Ok(rows) }
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { cursors, session, value, .. } = self;
        match scope {
            Scope::Snapshot => session.within(|| work(&mut Snapshot(cursors))),
            Scope::Batch => session.within(|| work(&mut Changes::<false> { cursors, value })),
            Scope::PerOperation => work(&mut Changes::<true> { cursors, value }),
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

    /// Copies the value of a key; whether it is there.
    #[inline]
    fn copy(&mut self, key: &[u8], copy: &mut Vec<u8>) -> ffi::Result<bool> {
        let Some(value) = self.get(key)? else { return Ok(false) };
        copy.clear();
        copy.extend_from_slice(value);
        Ok(true)
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
    value: &'a mut Vec<u8>,
}

impl<const ALONE: bool> Changes<'_, ALONE> {
    /// Makes a change, and again where it was refused that is a transaction of its own.
    #[inline]
    fn change<T>(change: impl FnMut() -> ffi::Result<T>) -> Result<T> {
        again_if(|refusal: &Refusal| ALONE && refusal.is_conflict(), change).told()
    }
}

impl<const ALONE: bool> Operations for Changes<'_, ALONE> {
    /// A copy, alone: a cursor that stands on a value pins the state it was read from.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let cursors = at(self.cursors, table)?;
        if !ALONE {
            return cursors.get(key).told();
        }
        let there = cursors.copy(key, self.value).told()?;
        cursors.other.reset().told()?;
        Ok(there.then_some(self.value))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        at(self.cursors, table)?.other.walk(range, visit).told()
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let cursor = &mut at(self.cursors, table)?.put;
        Self::change(|| cursor.insert(key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let (cursors, value) = (at(self.cursors, table)?, &mut *self.value);
        let changed = Self::change(|| {
            if !cursors.copy(key, value)? {
                return Ok(false);
            }
            change(value);
            cursors.other.update(value).map(|()| true)
        });
        if ALONE {
            cursors.other.reset().told()?;
        }
        changed
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let cursor = &mut at(self.cursors, table)?.other;
        Self::change(|| cursor.remove(key))
    }
}
