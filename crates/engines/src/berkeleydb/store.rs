//! The store over the environment's B-trees.

mod check;
mod cursor;
mod ffi;
mod multiple;
mod page;
mod raw;
mod tree;

use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use super::{CACHE_SIZE, ID, INIT_TXN, PAGE_SIZE, line};
use crate::kv::{Change, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use crate::log_files::{CHECKPOINT_AFTER, log_files};
use crate::per_table::PerTable;
use crate::{
    Availability, Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle,
    OpenOptions, Opened, Origin, Result, Scope, as_set,
};
use cursor::Cursor;
use ffi::{Env, Txn};
use multiple::Multiple;
use tree::Tree;

pub(super) fn availability() -> Availability {
    Availability::Ready { version: ffi::version() }
}

/// Returns the origin of the linked library.
pub(super) fn origin() -> Option<Origin> {
    let file = option_env!("BERKELEYDB_LINKED");
    Some(file.map_or(Origin::CompiledIn, |file| crate::deps::origin(ID, file.into(), None)))
}

/// Opens or creates a database. Without transactions it is what the manual calls the Data Store
/// product: an environment with only `DB_INIT_MPOOL`
/// (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/intro_products.html>).
pub(super) fn open(options: &OpenOptions, &(tier, write_nosync): &(bool, bool)) -> Result<Opened> {
    configure(options)?;
    let set = (options.switch(INIT_TXN).unwrap_or(tier), write_nosync);
    let page = options.number(ID, PAGE_SIZE)?;
    let page = page.unwrap_or_else(|| page::size(&options.dir, options.durability));
    let env = Env::open(&options.dir, options.memory, (page, options.durability), set)?;
    let env = Rc::new(env);
    let (mut settings, buffers) = (env.settings(tier)?, (Vec::new(), Multiple::new()));
    let (giga, bytes) = (env.cache >> 30, env.cache % (1 << 30));
    let cache = options.not_configured([(CACHE_SIZE, format!("{giga} {bytes} 1"))]);
    settings.extend(cache.map(|(name, value)| (name, as_set(value))));
    let dir = options.dir.clone();
    let store = BtreeStore { tables: Vec::new(), env, buffers, dir, crashes: false };
    Ok(Opened::embedded(store, ffi::version(), settings))
}

/// Writes the settings of a configuration to the environment's DB_CONFIG, if there are any.
fn configure(options: &OpenOptions) -> Result<()> {
    if options.settings.is_empty() {
        return Ok(());
    }
    let file = options.dir.join("DB_CONFIG");
    let lines = options.settings.iter().map(|(name, value)| line(name, value) + "\n");
    let written = fs::write(&file, lines.collect::<String>());
    written.map_err(|error| EngineError::file(ID, "write", file, error))
}

/// An open environment and its tables.
struct BtreeStore {
    tables: Vec<Tree>,
    env: Rc<Env>,
    /// Memory for values and for batches of pairs.
    buffers: (Vec<u8>, Multiple),
    /// Folder of its files.
    dir: PathBuf,
    /// Whether closing must leave the files as a crash would.
    crashes: bool,
}

/// Reason that recovery is unsupported without a log.
const NO_LOG: &str = "recovery without transactions, as in the tier `none`: there is no log, and what \
                      is in the cache would be lost";

impl Lifecycle for BtreeStore {
    fn maintain(&mut self) -> Result<()> {
        self.env.checkpoint(0)
    }

    /// Takes a checkpoint once the log has grown this much since the last one, which removes the
    /// log files before it. Berkeley DB takes none by itself
    /// (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/transapp_checkpoint.html>).
    fn upkeep(&mut self) -> Result<()> {
        let beyond_kib = (CHECKPOINT_AFTER >> 10) as u32;
        if self.env.transactions { self.env.checkpoint(beyond_kib) } else { Ok(()) }
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "its environment is opened with DB_PRIVATE and without locking: only one process can use \
             it (https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html)",
        )
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let what = "more than one client at a time: its environment is opened without \
                    DB_INIT_LOCK and DB_THREAD, for one thread \
                    (https://docs.oracle.com/cd/E17276_01/html/api_reference/C/envopen.html)";
        Err(EngineError::unsupported(ID, what))
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let kept = [INIT_TXN, "DB_TXN_WRITE_NOSYNC", "DB_TXN_NOSYNC"];
        let settings = self.env.settings(true)?.into_iter().filter(|(name, _)| kept.contains(name));
        Ok(settings.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let settings = self.env.settings(false)?;
        let on = settings.iter().filter(|(name, value)| name.starts_with("DB_") && value == "on");
        let flags: Vec<&str> = on.map(|(name, _)| *name).collect();
        Ok(vec![
            ("dir", self.dir.to_string_lossy().into_owned()),
            ("flags", flags.join(" ")),
            ("cache_bytes", self.env.cache.to_string()),
            ("page_size", self.env.page.to_string()),
            ("log_buffer", ffi::LOG_BUFFER.to_string()),
        ])
    }

    fn crash_on_close(&mut self) -> Result<()> {
        self.crashes = self.env.transactions;
        if self.crashes { Ok(()) } else { Err(EngineError::unsupported(ID, NO_LOG)) }
    }

    /// Does nothing, because checkpoints are only taken when a program asks for one
    /// (<https://docs.oracle.com/cd/E17276_01/html/programmer_reference/transapp_checkpoint.html>).
    fn suspend_checkpoints(&mut self, _: u64) -> Result<()> {
        let logged = self.env.transactions;
        if logged { Ok(()) } else { Err(EngineError::unsupported(ID, NO_LOG)) }
    }

    /// Old log files stay until they are removed.
    fn log_bytes(&mut self) -> Result<u64> {
        log_files(ID, &self.dir, |name| name.starts_with("log."))
    }

    fn check(&mut self) -> Result<Checked> {
        self.env.checkpoint(0)?;
        let closed = self.tables.iter_mut().map(|tree| tree.close(!self.env.transactions));
        closed.fold(Ok(()), Result::and)?;
        let checked = check::verify(&self.env);
        let opened = self.tables.iter_mut().map(Tree::open_files).fold(Ok(()), Result::and);
        checked.and_then(|checked| opened.map(|()| checked))
    }

    /// Takes a checkpoint, then closes the tables and the environment, as the manual requires. Does
    /// every step and returns the first error. Tables whose changes are in the log are closed with
    /// `DB_NOSYNC`, which leaves the cache's content in the log
    /// (<https://docs.oracle.com/cd/E17276_01/html/api_reference/C/dbclose.html>).
    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut tables, env, crashes, .. } = *self;
        let written = if crashes { Ok(()) } else { env.checkpoint(0) };
        let closed = tables.iter_mut().map(|tree| tree.close(!env.transactions));
        let closed = closed.fold(written, Result::and);
        drop(tables);
        closed.and(Rc::into_inner(env).map_or(Ok(()), Env::close))
    }
}

impl KvStore for BtreeStore {
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

    /// Creates a new file. Emptying the old one would log every page of it and keep its size.
    fn clear(&mut self, table: Table) -> Result<()> {
        self.tables[table.0].clear()
    }

    /// Loads batches in one transaction with `DB_TXN_BULK`: new pages of the file are not logged,
    /// but written at the commit.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let txn = self.env.begin(true)?;
        let rows = self.tables[table.0].load(&txn, &mut self.buffers.1, pairs)?;
        txn.commit().map(|()| rows)
    }

    /// A snapshot is the current environment, because no other process can change it. Without
    /// transactions the changes of a batch are like any others: if it fails, its earlier changes
    /// stay.
    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { tables, env, buffers, .. } = self;
        let txn = match scope {
            Scope::Snapshot => None,
            Scope::PerOperation if env.transactions => None,
            Scope::Batch | Scope::PerOperation => Some(env.begin(false)?),
        };
        let cursors = PerTable::new();
        work(&mut Scoped { tables, env, buffers, scope, txn: txn.as_ref(), cursors })?;
        txn.map_or(Ok(()), Txn::commit)
    }
}

struct Scoped<'a> {
    tables: &'a [Tree],
    env: &'a Env,
    buffers: &'a mut (Vec<u8>, Multiple),
    scope: Scope,
    /// Transaction of a batch. Without one, the library makes each change its own transaction.
    txn: Option<&'a Txn<'a>>,
    /// Cursors of a batch that change values.
    cursors: PerTable<Cursor<'a>>,
}

impl<'a> Scoped<'a> {
    /// Returns the transaction for a change. Fails in a snapshot.
    fn transaction_to_write(&self) -> Result<Option<&'a Txn<'a>>> {
        if self.scope == Scope::Snapshot { Err(EngineError::read_only(ID)) } else { Ok(self.txn) }
    }
}

impl Operations for Scoped<'_> {
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.tables[table.0].get(self.txn, key, &mut self.buffers.0)
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        self.tables[table.0].cursor(self.txn)?.scan(range, &mut self.buffers.1, visit)
    }

    fn find(
        &mut self,
        table: Table,
        index: usize,
        range: Range<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        self.tables[table.0].index(self.txn, index, range)?.find(range, visit)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.tables[table.0].put(self.transaction_to_write()?, key, value)
    }

    /// Uses a cursor, which must be in a transaction.
    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let tree = &self.tables[table.0];
        let Some(txn) = self.transaction_to_write()? else {
            let txn = self.env.begin(false)?;
            let done = tree.cursor(Some(&txn))?.modify(key, change)?;
            return txn.commit().map(|()| done);
        };
        self.cursors.get(table, |_| tree.cursor(Some(txn)))?.modify(key, change)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        self.tables[table.0].delete(self.transaction_to_write()?, key)
    }
}
