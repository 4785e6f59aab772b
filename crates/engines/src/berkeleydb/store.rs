//! The store over the environment's B-trees.

use std::rc::Rc;

use super::ffi::{self, Cursor, Env, To, Tree, Txn};
use super::multiple::Multiple;
use super::{Commits, ID};
use crate::kv::{
    Change, Direction, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use crate::{
    ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, Scope, as_set,
};

/// Log buffer. The default, 32 KiB, makes a large transaction write its log in many small pieces;
/// at most a quarter of a log file (10 MiB by default) is allowed.
const LOG_BUFFER: u32 = 1 << 20;
/// Bytes of a batch of a bulk load: beyond this, larger batches gained nothing.
const LOAD: usize = 256 << 10;
/// Pairs fetched one by one before a scan goes over to batches: a batch copies a page and more,
/// which a scan for the first few pairs of a range would pay for nothing.
const SINGLE: u32 = 8;
/// Bytes of the first batch, and of the largest; each is four times the one before.
const FETCH: (usize, usize) = (4 << 10, 64 << 10);

/// Opens a database. Below 500 MB of cache the library adds a quarter to what it is asked for, to
/// hold its own records of the pages.
pub(super) fn open(options: &OpenOptions, commits: Commits) -> Result<Opened> {
    let less = options.memory / 5 * 4;
    let cache = if less < 500 << 20 { less } else { options.memory };
    let Commits { transactions, write_nosync } = commits;
    let env = Rc::new(Env::open(&options.dir, cache, LOG_BUFFER, transactions, write_nosync)?);
    let facts = env.facts()?;
    let on = |flag: u32| if flag != 0 { "on" } else { "off" }.to_owned();
    let mut settings = vec![
        ("cache", format!("{} bytes in {}", facts.cache_bytes, facts.caches)),
        ("page size", as_set("4096 bytes")),
        ("DB_PRIVATE", on(facts.private)),
        ("DB_INIT_LOCK", on(facts.locking)),
        ("DB_INIT_LOG", on(facts.logging)),
        ("DB_INIT_TXN", on(facts.transactions)),
    ];
    if facts.transactions != 0 {
        settings.extend([
            ("DB_TXN_WRITE_NOSYNC", on(facts.write_nosync)),
            ("DB_TXN_NOSYNC", on(facts.nosync)),
            ("DB_LOG_AUTO_REMOVE", on(facts.auto_remove)),
            ("log buffer", format!("{} bytes", facts.log_buffer)),
            ("log file", format!("{} bytes", facts.log_file)),
        ]);
    }
    let (tables, buffers) = (Vec::new(), Buffers { value: Vec::new(), batch: Multiple::new() });
    let store = Trees { tables, env, buffers, transactions, crashes: false };
    Ok(Opened::embedded(store, ffi::version(), settings))
}

/// An open environment and its tables; none in the place of one that could not be made again.
struct Trees {
    tables: Vec<Option<Tree>>,
    env: Rc<Env>,
    buffers: Buffers,
    transactions: bool,
    crashes: bool,
}

/// What pairs pass through.
struct Buffers {
    value: Vec<u8>,
    batch: Multiple,
}

fn tree(tables: &[Option<Tree>], table: Table) -> Result<&Tree> {
    tables[table.0].as_ref().ok_or_else(lost)
}

#[cold]
fn lost() -> EngineError {
    EngineError::failed(ID, "use a table", "it could not be made again when it was cleared")
}

impl Lifecycle for Trees {
    fn maintain(&mut self) -> Result<()> {
        self.env.checkpoint()
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "its environment is opened with DB_PRIVATE and without locking: one process alone may \
             use it (https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html)",
        )
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let what = "more than one client at a time: its environment is opened without \
                    DB_INIT_LOCK and DB_THREAD, for one thread \
                    (https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html)";
        Err(EngineError::unsupported(ID, what))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        if !self.transactions {
            let what = "recovery in the tier `none`: without a log, what is in the cache would be \
                        lost";
            return Err(EngineError::unsupported(ID, what));
        }
        self.crashes = true;
        Ok(())
    }

    /// By a checkpoint, the tables, the environment, as the manual asks; all of it is tried, the
    /// first error returned. Tables whose changes are in the log are closed by `DB_NOSYNC`, which
    /// leaves what is in the cache there
    /// (<https://docs.oracle.com/cd/E17276_01/html/api_reference/C/dbclose.html>).
    fn close(self: Box<Self>) -> Result<()> {
        let Self { tables, env, transactions, crashes, .. } = *self;
        let written = if crashes { Ok(()) } else { env.checkpoint() };
        let closed = tables.into_iter().flatten().map(|tree| tree.close(!transactions));
        let closed = closed.fold(written, Result::and);
        closed.and(Rc::into_inner(env).map_or(Ok(()), Env::close))
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let mut tables = self.tables.iter();
        if let Some(known) = tables.position(|t| t.as_ref().is_some_and(|t| t.is_named(def.name))) {
            return Ok(Table(known));
        }
        self.tables.push(Some(Tree::open(&self.env, def)?));
        Ok(Table(self.tables.len() - 1))
    }

    fn keeps_indexes(&self) -> bool {
        true
    }

    /// By a new file: emptying the old one would log every page of it and keep its size.
    fn clear(&mut self, table: Table) -> Result<()> {
        let place = &mut self.tables[table.0];
        let tree = place.take().ok_or_else(lost)?;
        *place = Some(tree.clear()?);
        Ok(())
    }

    /// In batches, in one transaction with `DB_TXN_BULK`: pages that are new to the file are not
    /// logged but written when it commits.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (tree, batch) = (tree(&self.tables, table)?, &mut self.buffers.batch);
        let (txn, mut rows) = (self.env.begin(true)?, 0);
        batch.reset(LOAD);
        while let Some((key, value)) = pairs.next() {
            tree.check(value)?;
            if !batch.push(key, value) {
                tree.put_batch(&txn, batch)?;
                batch.reset(LOAD);
                if !batch.push(key, value) {
                    tree.put(Some(&txn), key, value)?;
                }
            }
            rows += 1;
        }
        if !batch.is_empty() {
            tree.put_batch(&txn, batch)?;
        }
        txn.commit().map(|()| rows)
    }

    /// A snapshot is the environment as it stands: nobody else can change it.
    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { tables, env, buffers, .. } = self;
        match scope {
            Scope::Snapshot => work(&mut Scoped { tables, buffers, mode: Snapshot }),
            Scope::Batch => {
                let txn = env.begin(false)?;
                let mode = Batch { txn: &txn, cursors: Vec::new() };
                work(&mut Scoped { tables, buffers, mode })?;
                txn.commit()
            }
            Scope::PerOperation => work(&mut Scoped { tables, buffers, mode: PerOperation(env) }),
        }
    }
}

/// The operations of a scope.
struct Scoped<'a, M> {
    tables: &'a [Option<Tree>],
    buffers: &'a mut Buffers,
    mode: M,
}

/// What sets scopes apart.
trait Mode<'a> {
    /// The transaction of a read; there need not be one.
    fn reading(&self) -> Option<&'a Txn<'a>> {
        None
    }

    /// The transaction of a change; without one the library makes it a transaction of its own.
    fn writing(&self) -> Result<Option<&'a Txn<'a>>> {
        Ok(self.reading())
    }

    /// Does work with a cursor that may change values.
    fn cursor<T>(
        &mut self,
        table: Table,
        tree: &'a Tree,
        work: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T>;
}

struct Snapshot;

impl Snapshot {
    #[cold]
    fn refuse<T>() -> Result<T> {
        let why = "this scope is a snapshot, which only reads";
        Err(EngineError::failed(ID, "change a value", why))
    }
}

impl<'a> Mode<'a> for Snapshot {
    fn writing(&self) -> Result<Option<&'a Txn<'a>>> {
        Self::refuse()
    }

    fn cursor<T>(
        &mut self,
        _: Table,
        _: &Tree,
        _: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T> {
        Self::refuse()
    }
}

/// Cursors are in a transaction, which the library does not make by itself.
struct PerOperation<'a>(&'a Env);

impl<'a> Mode<'a> for PerOperation<'a> {
    fn cursor<T>(
        &mut self,
        _: Table,
        tree: &Tree,
        work: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T> {
        let txn = self.0.begin(false)?;
        let done = work(&mut tree.cursor(Some(&txn))?)?;
        txn.commit().map(|()| done)
    }
}

/// The cursors that change values stay open, by the number of their table.
struct Batch<'a> {
    txn: &'a Txn<'a>,
    cursors: Vec<Option<Cursor<'a>>>,
}

impl<'a> Mode<'a> for Batch<'a> {
    fn reading(&self) -> Option<&'a Txn<'a>> {
        Some(self.txn)
    }

    fn cursor<T>(
        &mut self,
        Table(number): Table,
        tree: &'a Tree,
        work: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.cursors.len() <= number {
            self.cursors.resize_with(number + 1, || None);
        }
        work(match &mut self.cursors[number] {
            Some(cursor) => cursor,
            none => none.insert(tree.cursor(Some(self.txn))?),
        })
    }
}

impl<'a, M: Mode<'a>> Operations for Scoped<'a, M> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        tree(self.tables, table)?.get(self.mode.reading(), key, &mut self.buffers.value)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let cursor = tree(self.tables, table)?.cursor(self.mode.reading())?;
        match range.direction {
            Direction::Forward => forward(cursor, range, &mut self.buffers.batch, visit),
            Direction::Backward => backward(cursor, range, visit),
        }
    }

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let longest = [range.from, range.to].into_iter().flatten().map(<[u8]>::len).max();
        let tree = tree(self.tables, table)?;
        let mut cursor = tree.index(self.mode.reading(), index, longest.unwrap_or_default())?;
        let mut from = Some(range.from.unwrap_or_default());
        while let Some((index, (key, value))) = cursor.find(from.take())?
            && range.to.is_none_or(|to| index < to)
            && visit(key, value).is_continue()
        {}
        Ok(())
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        tree(self.tables, table)?.put(self.mode.writing()?, key, value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let (tree, copy) = (tree(self.tables, table)?, &mut self.buffers.value);
        self.mode.cursor(table, tree, |cursor| cursor.modify(key, copy, change))
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        tree(self.tables, table)?.delete(self.mode.writing()?, key)
    }
}

/// Visits a range in ascending order, in batches once it proves to be long.
fn forward(
    mut cursor: Cursor<'_>,
    range: Range<'_>,
    batch: &mut Multiple,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut goes_on = |key: &[u8], value: &[u8]| {
        range.to.is_none_or(|to| key < to) && visit(key, value).is_continue()
    };
    let (mut to, key) = range.from.map_or((To::First, &[][..]), |from| (To::AtLeast, from));
    for _ in 0..SINGLE {
        match cursor.step(to, key)? {
            Some((key, value)) if goes_on(key, value) => to = To::Next,
            _ => return Ok(()),
        }
    }
    let mut bytes = FETCH.0;
    while cursor.fetch(batch, bytes)? && batch.pairs().all(|(key, value)| goes_on(key, value)) {
        bytes = FETCH.1.min(bytes * 4);
    }
    Ok(())
}

/// Visits a range in descending order; the library has no batches that way.
fn backward(mut cursor: Cursor<'_>, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
    let above = match range.to {
        Some(to) => cursor.step(To::AtLeast, to)?.is_some(),
        None => false,
    };
    let mut to = if above { To::Prev } else { To::Last };
    while let Some((key, value)) = cursor.step(to, &[])?
        && range.from.is_none_or(|from| key >= from)
        && visit(key, value).is_continue()
    {
        to = To::Prev;
    }
    Ok(())
}
