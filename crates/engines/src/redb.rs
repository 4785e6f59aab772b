//! redb, a copy-on-write B-tree in pure Rust: a complete engine, with its settings in a file of
//! their own.

mod settings;

use std::ops::Bound::Unbounded;
use std::sync::Arc;

use ::redb::{
    Database, DatabaseError, Durability as Commit, ReadOnlyTable, ReadableDatabase, ReadableTable,
    StorageError, TableDefinition, WriteTransaction,
};
use embermark_model::Durability;
use smallvec::SmallVec;

use crate::kv::{
    Autocommit, Change, Direction, KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work,
};
use crate::per_table::PerTable;
use crate::{
    Availability, Checked, ClientOpener, Embedded, EngineError, Info, Join, Lifecycle, OpenOptions,
    Opened, Result, Scope, TierSetting, TierTable, as_set,
};
use settings::{CommitOptions, SETTINGS};

const ID: &str = "redb";
const OPEN: &str = "open a table";
/// Version of the compiled crate. The build script reads it from the lock file.
const VERSION: &str = env!("REDB_VERSION");

/// redb reports only its page size. The other settings are shown as configured.
const TIERS: TierTable<Commit> = TierTable {
    none: TierSetting::new(
        Durability::None,
        Commit::None,
        "Durability::None: a commit is kept by the next Durability::Immediate, by maintenance and \
         at close",
        MANUAL,
    ),
    process: SYNCED,
    power: SYNCED,
};
const SYNCED: TierSetting<Commit> = TierSetting::new(
    Durability::Power,
    Commit::Immediate,
    "Durability::Immediate (default): a commit is synced",
    MANUAL,
);
const MANUAL: &str = "https://docs.rs/redb/4/redb/enum.Durability.html";

pub(crate) static ENGINE: Embedded<Commit> = Embedded {
    settings: SETTINGS,
    ..Embedded::new(
        Info::key_value(ID, "redb", "MIT or Apache-2.0"),
        || TIERS,
        || Availability::Ready { version: VERSION.to_owned() },
        open,
    )
};

fn open(options: &OpenOptions, &commit: &Commit) -> Result<Opened> {
    let ours = || usize::try_from(options.memory).unwrap_or(usize::MAX);
    let cache = options.number(ID, "cache_size")?.unwrap_or_else(ours);
    let db = Database::builder().set_cache_size(cache).create(options.dir.join("embermark.redb"));
    let db = Arc::new(db.map_err(failed("open the database"))?);
    // Its statistics are the only source of its page size, and they walk every tree.
    let settings = [
        ("durability", as_set(format_args!("{commit:?}"))),
        ("cache_size", as_set(format_args!("{cache} bytes"))),
    ];
    let commit = CommitOptions::new(options, commit);
    let trees = Trees { db, commit, names: Vec::new(), copy: Vec::new() };
    Ok(Opened::embedded(trees, VERSION, settings))
}

/// Turns an error of the crate into an engine error.
fn failed<E: ToString>(doing: &'static str) -> impl FnOnce(E) -> EngineError {
    move |error| EngineError::failed(ID, doing, error)
}

type Bytes = &'static [u8];

fn tree(name: &str) -> TableDefinition<'_, Bytes, Bytes> {
    TableDefinition::new(name)
}

fn begin_write(db: &Database, options: CommitOptions) -> Result<WriteTransaction> {
    let mut txn = db.begin_write().map_err(failed("begin to write"))?;
    txn.set_durability(options.commit).map_err(failed("set the durability"))?;
    txn.set_two_phase_commit(options.two_phases);
    txn.set_quick_repair(options.keeps_allocator);
    Ok(txn)
}

/// An open database and its tables.
struct Trees {
    db: Arc<Database>,
    commit: CommitOptions,
    names: Vec<String>,
    /// The value returned last.
    copy: Vec<u8>,
}

impl Trees {
    /// Returns exclusive access. Fails while another client has the database open.
    fn exclusive(&mut self, doing: &'static str) -> Result<&mut Database> {
        Arc::get_mut(&mut self.db).ok_or_else(|| failed(doing)("another client has it open"))
    }
}

/// Makes a durable commit, which includes all earlier ones.
fn commit_durably(db: &Database, options: CommitOptions) -> Result<()> {
    begin_write(db, CommitOptions { commit: Commit::Immediate, ..options })?
        .commit()
        .map_err(failed("commit"))
}

impl Lifecycle for Trees {
    /// Makes a durable commit, and compacts the file.
    fn maintain(&mut self) -> Result<()> {
        commit_durably(&self.db, self.commit)?;
        self.exclusive("compact")?.compact().map_err(failed("compact")).map(drop)
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "a database that is open is locked: opening it again is DatabaseAlreadyOpen \
             (https://docs.rs/redb/4/redb/enum.DatabaseError.html)",
        )
    }

    /// Opens another client of the same database with its own transactions. Readers never wait, and
    /// a writer waits for the one before it
    /// (<https://docs.rs/redb/4/redb/struct.Database.html#method.begin_write>).
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (db, commit, names) = (Arc::clone(&self.db), self.commit, self.names.clone());
        Ok(ClientOpener::kv(move || Ok(Self { db, commit, names, copy: Vec::new() })))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery: it has no log to recover; after a crash it looks through the whole \
                    file for its free pages instead";
        Err(EngineError::unsupported(ID, what))
    }

    /// Checks every used page by its checksum, and the record of free pages
    /// (<https://docs.rs/redb/4/redb/struct.Database.html#method.check_integrity>). It repairs what
    /// it can.
    fn check(&mut self) -> Result<Checked> {
        let mut checked = Checked::new("Database::check_integrity");
        match self.exclusive("check the database")?.check_integrity() {
            Ok(true) => {}
            Ok(false) => checked.found("the check failed, and the database was repaired"),
            Err(DatabaseError::Storage(StorageError::Corrupted(what))) => checked.found(what),
            Err(error) => return Err(failed("check the database")(error)),
        }
        Ok(checked)
    }

    /// Closing the last client keeps what was committed.
    fn close(self: Box<Self>) -> Result<()> {
        if Arc::strong_count(&self.db) == 1 {
            commit_durably(&self.db, self.commit)
        } else {
            Ok(())
        }
    }
}

impl KvStore for Trees {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        if let Some(known) = self.names.iter().position(|name| name == def.name) {
            return Ok(Table(known));
        }
        let txn = begin_write(&self.db, self.commit)?;
        txn.open_table(tree(def.name)).map_err(failed(OPEN))?;
        txn.commit().map_err(failed("commit"))?;
        self.names.push(def.name.to_owned());
        Ok(Table(self.names.len() - 1))
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        let (txn, tree) = (begin_write(&self.db, self.commit)?, tree(&self.names[table.0]));
        txn.delete_table(tree).map_err(failed("remove a table"))?;
        txn.open_table(tree).map_err(failed(OPEN))?;
        txn.commit().map_err(failed("commit"))
    }

    /// Inserts through a cursor at the end, which fills pages without a search.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let (txn, mut rows) = (begin_write(&self.db, self.commit)?, 0);
        let mut tree = txn.open_table(tree(&self.names[table.0])).map_err(failed(OPEN))?;
        let mut end = tree.upper_bound_mut(Unbounded::<&[u8]>).map_err(failed("append a pair"))?;
        while let Some((key, value)) = pairs.next() {
            end.insert_before(key, value).map_err(failed("append a pair"))?;
            rows += 1;
        }
        end.close().map_err(failed("append a pair"))?;
        drop(tree);
        txn.commit().map_err(failed("commit")).map(|()| rows)
    }

    /// Removes the keys in one pass, with one commit
    /// (<https://docs.rs/redb/4/redb/struct.Table.html#method.retain_in>).
    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        let txn = begin_write(&self.db, self.commit)?;
        let mut tree = txn.open_table(tree(&self.names[table.0])).map_err(failed(OPEN))?;
        tree.retain_in::<&[u8], _>(from..to, |_, _| false).map_err(failed("delete a range"))?;
        drop(tree);
        txn.commit().map_err(failed("commit"))
    }

    fn deletes_range(&self, _: Table) -> &'static str {
        "Table::retain_in, one pass and one commit for all keys of a range"
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        let Self { db, commit, names, copy } = self;
        match scope {
            Scope::Snapshot => {
                let txn = db.begin_read().map_err(failed("begin to read"))?;
                let open = |t: Table| txn.open_table(tree(&names[t.0])).map_err(failed(OPEN));
                work(&mut Tables { open, tables: PerTable::new(), copy })
            }
            Scope::Batch => {
                let txn = begin_write(db, *commit)?;
                let open = |t: Table| txn.open_table(tree(&names[t.0])).map_err(failed(OPEN));
                work(&mut Tables { open, tables: PerTable::new(), copy })?;
                txn.commit().map_err(failed("commit"))
            }
            Scope::PerOperation => work(&mut Autocommit::new(self)),
        }
    }
}

/// A table in a transaction, which can change it unless it only reads.
trait Tree<'txn>: ReadableTable<Bytes, Bytes> {
    fn changed(&mut self) -> Result<&mut ::redb::Table<'txn, Bytes, Bytes>> {
        Err(EngineError::read_only(ID))
    }
}

impl<'txn> Tree<'txn> for ReadOnlyTable<Bytes, Bytes> {}

impl<'txn> Tree<'txn> for ::redb::Table<'txn, Bytes, Bytes> {
    fn changed(&mut self) -> Result<&mut Self> {
        Ok(self)
    }
}

/// The tables of a transaction, opened on first use. Opening one for each operation would cost as
/// much as the operation.
struct Tables<'a, T, O> {
    open: O,
    tables: PerTable<T>,
    copy: &'a mut Vec<u8>,
}

impl<'txn, T: Tree<'txn>, O: Fn(Table) -> Result<T>> Operations for Tables<'_, T, O> {
    /// Returns a copy, because a table that is written to cannot lend a value for longer than it is
    /// borrowed.
    fn get(&mut self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let found = self.tables.get(table, &self.open)?.get(key).map_err(failed("get a value"))?;
        let Some(found) = found else { return Ok(None) };
        self.copy.clear();
        self.copy.extend_from_slice(found.value());
        Ok(Some(self.copy))
    }

    fn scan(&mut self, table: Table, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (tree, direction) = (self.tables.get(table, &self.open)?, range.direction);
        let mut pairs = tree.range::<&[u8]>(range.bounds()).map_err(failed("scan"))?;
        let mut next =
            || if direction == Direction::Forward { pairs.next() } else { pairs.next_back() };
        while let Some(pair) = next() {
            let (key, value) = pair.map_err(failed("scan"))?;
            if visit(key.value(), value.value()).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn count(&mut self, table: Table) -> Result<Option<u64>> {
        self.tables.get(table, &self.open)?.len().map_err(failed("count the keys")).map(Some)
    }

    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let put = self.tables.get(table, &self.open)?.changed()?.insert(key, value);
        put.map_err(failed("put a value")).map(drop)
    }

    fn modify(&mut self, table: Table, key: &[u8], change: &mut Change<'_>) -> Result<bool> {
        let found = self.tables.get(table, &self.open)?.changed()?.get_mut(key);
        let Some(mut found) = found.map_err(failed("get a value"))? else { return Ok(false) };
        let mut copy = SmallVec::<[u8; 64]>::from_slice(found.value());
        change(&mut copy);
        found.insert(&*copy).map_err(failed("replace a value")).map(|()| true)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let old = self.tables.get(table, &self.open)?.changed()?.remove(key);
        old.map_err(failed("delete a key")).map(|old| old.is_some())
    }
}
