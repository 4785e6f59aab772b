//! The store over the connection's tables.

mod check;
mod ffi;
mod settings;
mod tree;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use embermark_model::Durability;
use smallvec::SmallVec;

use super::library::LIBRARY;
use super::{ID, LEAF_PAGE, Parts, UPDATES_TARGET, UPDATES_TRIGGER};
use crate::kv::{Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use crate::log_files::{CHECKPOINT_AFTER, log_files};
use crate::{
    Background, Checked, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result,
    Scope, as_set, retry_if,
};
use ffi::{Connection, Refusal, Session};
use tree::{Cursors, Tree};

/// Returns the bytes of a leaf page on disk: the default of 32 KiB, or less if the cache has fewer
/// than 16,384 such pages, but at least 4 KiB, the unit of allocation. A transaction of some
/// thousand changes at random positions changes as many pages, which must fit into the cache until
/// it commits, and a read that misses the cache reads a page
/// (<https://source.wiredtiger.com/mongodb-4.2/tune_page_size_and_comp.html>).
fn leaf_page(memory: u64) -> u64 {
    (memory / 16_384).next_power_of_two().clamp(4 << 10, 32 << 10)
}

/// Percent of the cache that unwritten changes can fill before writers must wait for them. 3.2.1
/// has no limits for it, and 11.3.1 has defaults of 2.5 and 10. With 64 MiB they made a transaction
/// of 200,000 changes roll back after half a minute
/// (<https://source.wiredtiger.com/11.3.1/group__wt.html>, `wiredtiger_open`).
const UPDATES: [(&str, &str); 2] = [(UPDATES_TARGET, "60"), (UPDATES_TRIGGER, "80")];

pub(super) fn open(options: &OpenOptions, set: &Parts) -> Result<Opened> {
    // The library requires at least one megabyte.
    let cache = options.memory.max(1 << 20).to_string();
    let ours = set.iter().map(|(name, values)| (*name, values[0])).chain([("cache_size", &*cache)]);
    let has_updates = LIBRARY.get()?.shim.major >= 11;
    let ours = ours.chain(UPDATES.into_iter().filter(|_| has_updates));
    let own = options.configured().filter(|(name, _)| *name != LEAF_PAGE);
    let mut config = "create".to_owned();
    options.not_configured(ours).chain(own).for_each(|(name, value)| {
        config.extend([",", name, "=", value]);
    });
    let leaf = options.number(ID, LEAF_PAGE)?.unwrap_or_else(|| leaf_page(options.memory));
    let connection = Connection::open(&options.dir, &config, leaf, options.durability)?;
    let trees = Trees::new(&connection, options.durability != Durability::None, &options.dir)?;
    let created = settings::created_with(&options.dir)?;
    let settings = created.iter().filter(|(name, _)| config.contains(&format!("{name}=")));
    let settings = settings.map(|(name, value)| (name.as_str(), value.clone()));
    let settings = settings.chain(settings::durable_parts(&created));
    let settings = settings.chain([(LEAF_PAGE, as_set(leaf))]);
    Ok(Opened::embedded(trees, &*connection.library.version, settings))
}

/// A client of an open database: its tables, and its session.
struct Trees {
    trees: Vec<Tree>,
    session: Rc<Session>,
    logged: bool,
    /// Whether the library counts its work.
    counts: bool,
    /// Folder of its files.
    dir: PathBuf,
}

impl Trees {
    fn new(connection: &Arc<Connection>, logged: bool, dir: &Path) -> Result<Self> {
        let session = connection.session()?;
        Ok(Self { trees: Vec::new(), session, logged, counts: false, dir: dir.to_owned() })
    }
}

impl Lifecycle for Trees {
    fn maintain(&mut self) -> Result<()> {
        self.trees.iter_mut().for_each(|tree| tree.is_unused = false);
        self.session.checkpoint()
    }

    /// Takes a checkpoint once the log has this size, which removes log files that recovery no
    /// longer needs. Without `checkpoint=(…)` it takes none by itself
    /// (<https://source.wiredtiger.com/11.3.1/checkpoint.html>).
    fn upkeep(&mut self) -> Result<()> {
        let is_log = |name: &str| name.starts_with("WiredTigerLog.");
        if self.logged && log_files(ID, &self.dir, is_log)? > CHECKPOINT_AFTER {
            return self.maintain();
        }
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "a connection has exclusive access to its database, by a lock of a file \
             (https://source.wiredtiger.com/mongodb-4.4/arch-connection.html)",
        )
    }

    /// Opens another session of the same connection
    /// (<https://source.wiredtiger.com/mongodb-4.4/threads.html>: threads share a connection, and a
    /// session belongs to one thread).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (connection, logged) = (Arc::clone(&self.session.connection), self.logged);
        let dir = self.dir.clone();
        Ok(ClientOpener::kv(move || Self::new(&connection, logged, &dir)))
    }

    /// The library always takes a checkpoint when it is closed
    /// (<https://source.wiredtiger.com/mongodb-4.2/struct_w_t___c_o_n_n_e_c_t_i_o_n.html>,
    /// `close`).
    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery without the death of its process: closing takes a checkpoint, which \
                    leaves nothing in the log";
        Err(EngineError::unsupported(ID, what))
    }

    fn check(&mut self) -> Result<Checked> {
        // The library refuses tables with changes that no checkpoint has
        // (<https://source.wiredtiger.com/11.3.1/error_handling.html>, "EBUSY errors").
        self.maintain()?;
        check::verify(&self.session, &mut self.trees)
    }

    /// Reads its statistics, which are off by default: `fast` ones, from the first call on
    /// (<https://source.wiredtiger.com/11.3.1/statistics.html>).
    fn background(&mut self, into: &mut Vec<Background>) -> Result<()> {
        if !self.counts {
            self.session.count().map_err(Refusal::into_error)?;
            self.counts = true;
        }
        let [running, evicted] = self.session.counted().map_err(Refusal::into_error)?;
        into.push(Background::state("checkpoint running", running));
        into.push(Background::count("evictions by the program's own threads", evicted));
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        drop(self.trees);
        self.session.close()
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(known) = self.trees.iter().position(|tree| tree.is_named(def.name)) {
            return Ok(Table(known));
        }
        self.trees.push(Tree::open(&self.session, def.name)?);
        Ok(Table(self.trees.len() - 1))
    }

    /// Creates a new table. Truncating the old one would log it and keep its file.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.trees[table.0].clear()
    }

    /// The load is not logged, so a checkpoint makes it durable where commits are.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let rows = self.trees[table.0].load(pairs)?;
        if self.logged { self.maintain().map(|()| rows) } else { Ok(rows) }
    }

    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        let session = Rc::clone(&self.session);
        let cursors = self.trees[table.0].cursors()?;
        cursors.truncate(&session, from, to).map_err(Refusal::into_error)
    }

    fn deletes_range(&self, _: Table) -> &'static str {
        "truncate of a range of keys"
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { trees, session, .. } = self;
        let mut scoped = Scoped { trees, scope, is_alone: session.is_alone(), positioned: None };
        match scope {
            Scope::Snapshot | Scope::Batch => session.within(|| work(&mut scoped)),
            Scope::PerOperation => {
                let done = work(&mut scoped);
                done.and(scoped.reset_positioned())
            }
        }
    }
}

/// The operations of a transaction, or each on its own.
struct Scoped<'a> {
    trees: &'a mut [Tree],
    scope: Scope,
    /// Whether this is the only client.
    is_alone: bool,
    /// The table whose cursor is still at the last pair read, if each operation is its own
    /// transaction.
    positioned: Option<Table>,
}

impl Scoped<'_> {
    /// Ends the last read outside of a transaction, so that the next one sees later changes.
    #[inline]
    fn reset_positioned(&mut self) -> Result<()> {
        let Some(Table(positioned)) = self.positioned.take() else { return Ok(()) };
        self.trees[positioned].cursors()?.other.reset().map_err(Refusal::into_error)
    }

    /// Returns a table's cursors for the next operation. `keeps_position` is whether that leaves a
    /// cursor at a pair.
    #[inline]
    fn next(&mut self, table: Table, keeps_position: bool) -> Result<&mut Cursors> {
        if self.scope == Scope::PerOperation {
            self.reset_positioned()?;
            self.positioned = keeps_position.then_some(table);
        }
        self.trees[table.0].cursors()
    }

    /// Makes a change, and repeats it if it was refused and is its own transaction.
    #[inline]
    fn change<T>(
        &mut self,
        table: Table,
        keeps_position: bool,
        mut change: impl FnMut(&mut Cursors) -> ffi::Result<T>,
    ) -> Result<T> {
        if self.scope == Scope::Snapshot {
            return Err(EngineError::read_only(ID));
        }
        let (by_itself, is_alone) = (self.scope == Scope::PerOperation, self.is_alone);
        let cursors = self.next(table, keeps_position)?;
        let refused = |refusal: &Refusal| by_itself && refusal.is_conflict();
        retry_if(refused, || change(cursors)).map_err(|refusal| refusal.in_transaction(is_alone))
    }
}

impl Operations for Scoped<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let is_alone = self.is_alone;
        self.next(table, true)?.get(key).map_err(|refusal| refusal.in_transaction(is_alone))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (is_alone, cursors) = (self.is_alone, self.next(table, false)?);
        cursors.other.walk(range, visit).map_err(|refusal| refusal.in_transaction(is_alone))
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.change(table, false, |cursors| cursors.put.insert(key, value))
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        self.change(table, true, |cursors| {
            let Some(value) = cursors.get(key)? else { return Ok(false) };
            let mut copy = SmallVec::<[u8; 64]>::from_slice(value);
            change(&mut copy);
            cursors.other.update(&copy).map(|()| true)
        })
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.change(table, false, |cursors| cursors.other.remove(key))
    }
}

#[cfg(test)]
mod tests;
