//! The store over the environment's B-trees.

use std::rc::Rc;

use super::ffi::{self, Cursor, Env, Multiple, Tree, Txn};
use super::{Commits, ID};
use crate::kv::{Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use crate::{ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, Scope};

/// Bytes of a batch of a bulk load: beyond this, larger batches gained nothing.
const LOAD: usize = 256 << 10;

/// Opens a database.
pub(super) fn open(options: &OpenOptions, commits: Commits) -> Result<Opened> {
    let env = Rc::new(Env::open(&options.dir, options.memory, commits)?);
    let settings = env.settings()?;
    let buffers = Buffers { value: Vec::new(), batch: Multiple::new() };
    let store = Trees { tables: Vec::new(), env, buffers, commits, crashes: false };
    Ok(Opened::embedded(store, ffi::version(), settings))
}

/// An open environment and its tables.
struct Trees {
    tables: Vec<Tree>,
    env: Rc<Env>,
    buffers: Buffers,
    commits: Commits,
    /// Whether closing leaves it as a crash does.
    crashes: bool,
}

/// What pairs pass through.
struct Buffers {
    value: Vec<u8>,
    batch: Multiple,
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
        if !self.commits.transactions {
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
        let Self { tables, env, commits, crashes, .. } = *self;
        let written = if crashes { Ok(()) } else { env.checkpoint() };
        let closed = tables.into_iter().map(|tree| tree.close(!commits.transactions));
        let closed = closed.fold(written, Result::and);
        closed.and(Rc::into_inner(env).map_or(Ok(()), Env::close))
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(known) = self.tables.iter().position(|tree| tree.is_named(def.name)) {
            return Ok(Table(known));
        }
        self.tables.push(Tree::open(&self.env, def)?);
        Ok(Table(self.tables.len() - 1))
    }

    fn keeps_indexes(&self) -> bool {
        true
    }

    /// By a new file: emptying the old one would log every page of it and keep its size.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.tables[table.0].clear()
    }

    /// In batches, in one transaction with `DB_TXN_BULK`: pages that are new to the file are not
    /// logged but written when it commits.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (tree, batch) = (&self.tables[table.0], &mut self.buffers.batch);
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

    /// A snapshot is the environment as it stands: nobody else can change it. Without transactions
    /// the changes of a batch are like any others.
    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { tables, env, buffers, commits, .. } = self;
        match scope {
            Scope::Snapshot => work(&mut Scoped { tables, buffers, mode: Snapshot }),
            Scope::PerOperation if commits.transactions => {
                work(&mut Scoped { tables, buffers, mode: PerOperation(env) })
            }
            Scope::Batch | Scope::PerOperation => {
                let txn = env.begin(false)?;
                let mode = Batch { txn: &txn, cursors: Vec::new() };
                work(&mut Scoped { tables, buffers, mode })?;
                txn.commit()
            }
        }
    }
}

/// The operations of a scope.
struct Scoped<'a, M> {
    tables: &'a [Tree],
    buffers: &'a mut Buffers,
    mode: M,
}

/// Changes a value by a cursor.
type Edit<'e> = dyn FnMut(&mut Cursor<'_>) -> Result<bool> + 'e;

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

    /// Changes a value of a table by a cursor, which has to be in a transaction.
    fn edit(&mut self, table: Table, tree: &'a Tree, edit: &mut Edit<'_>) -> Result<bool>;
}

struct Snapshot;

impl<'a> Mode<'a> for Snapshot {
    fn writing(&self) -> Result<Option<&'a Txn<'a>>> {
        let why = "this scope is a snapshot, which only reads";
        Err(EngineError::failed(ID, "change a value", why))
    }

    fn edit(&mut self, _: Table, _: &'a Tree, _: &mut Edit<'_>) -> Result<bool> {
        self.writing().map(|_| false)
    }
}

struct PerOperation<'a>(&'a Env);

impl<'a> Mode<'a> for PerOperation<'a> {
    fn edit(&mut self, _: Table, tree: &'a Tree, edit: &mut Edit<'_>) -> Result<bool> {
        let txn = self.0.begin(false)?;
        let done = edit(&mut tree.cursor(Some(&txn))?)?;
        txn.commit().map(|()| done)
    }
}

/// Its cursors stay open, by the number of their table.
struct Batch<'a> {
    txn: &'a Txn<'a>,
    cursors: Vec<Option<Cursor<'a>>>,
}

impl<'a> Mode<'a> for Batch<'a> {
    fn reading(&self) -> Option<&'a Txn<'a>> {
        Some(self.txn)
    }

    fn edit(&mut self, table: Table, tree: &'a Tree, edit: &mut Edit<'_>) -> Result<bool> {
        if self.cursors.len() <= table.0 {
            self.cursors.resize_with(table.0 + 1, || None);
        }
        edit(match &mut self.cursors[table.0] {
            Some(cursor) => cursor,
            none => none.insert(tree.cursor(Some(self.txn))?),
        })
    }
}

impl<'a, M: Mode<'a>> Operations for Scoped<'a, M> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.tables[table.0].get(self.mode.reading(), key, &mut self.buffers.value)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let cursor = self.tables[table.0].cursor(self.mode.reading())?;
        cursor.scan(range, &mut self.buffers.batch, visit)
    }

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let longest = [range.from, range.to].into_iter().flatten().map(<[u8]>::len).max();
        let (tree, txn) = (&self.tables[table.0], self.mode.reading());
        tree.index(txn, index, longest.unwrap_or_default())?.find(range, visit)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.tables[table.0].put(self.mode.writing()?, key, value)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let (tree, copy) = (&self.tables[table.0], &mut self.buffers.value);
        self.mode.edit(table, tree, &mut |cursor| cursor.modify(key, copy, change))
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.tables[table.0].delete(self.mode.writing()?, key)
    }
}
