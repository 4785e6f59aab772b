//! The common part of LMDB and MDBX: one environment with a named database per table, in the memory
//! map of a file. They have no cache of their own, so [`OpenOptions::memory`] has no effect.

use std::fs;
use std::sync::Arc;

use crate::kv::{Autocommit, KvStore, Pairs, Table, TableDef, Work};
use crate::owned::c_string;
use crate::settings::{is_on, lines};
use crate::{
    Checked, ClientOpener, ConnectionParameters, EngineError, Join, Lifecycle, Limits, OpenOptions,
    Opened, Result, Scope, Store,
};

pub(crate) mod library;
mod txn;

use library::{Env, Facts, Library, TABLES};
use txn::{Reader, Writer};

/// Returns C code that sets or clears flags before the environment is opened.
pub(crate) fn flag_lines(place: &str, set: &[(&str, &str)]) -> Vec<String> {
    lines(place, set, |name, value| match is_on(value) {
        true => format!("flags |= {name};"),
        false => format!("flags &= ~{name};"),
    })
}

/// Returns the tier's flags, overridden by those of a configuration. Where memory is limited the
/// database can be larger than it, and the system's read-ahead of random reads only takes room.
fn flags_of<L: Library>(options: &OpenOptions, set: u32) -> u32 {
    let ours = if options.limit.is_some() { set | L::NO_READ_AHEAD } else { set };
    L::FLAGS.iter().fold(ours, |flags, &(name, flag)| match options.switch(name) {
        Some(true) => flags | flag,
        Some(false) => flags & !flag,
        None => flags,
    })
}

/// Returns flags by name, on or off.
fn switches(
    facts: Facts,
    flags: &'static [(&'static str, u32)],
) -> impl Iterator<Item = (&'static str, String)> {
    let word = move |flag| if facts.has(flag) { "on" } else { "off" };
    flags.iter().map(move |&(name, flag)| (name, word(flag).to_owned()))
}

pub(crate) fn open<L: Library>(options: &OpenOptions, &set: &u32) -> Result<Opened> {
    let env = Env::<L>::open(&options.dir, flags_of::<L>(options, set))?;
    let facts = env.facts()?;
    let settings = switches(facts, L::FLAGS).chain(switches(facts, L::FIXED)).chain([
        ("map size", format!("{} bytes", facts.map)),
        ("page size", format!("{} bytes", facts.page)),
        ("cache", "none of its own: the system's page cache".to_owned()),
    ]);
    let store = Databases::new(env, options.dir.display().to_string(), true)?;
    Ok(Opened::embedded(store, L::version(), settings))
}

/// Opens the environment of another process with the same flags. The manuals say that processes
/// with and without `WRITEMAP` do not cooperate.
pub(crate) fn join<L: Library>(options: &OpenOptions, &set: &u32) -> Result<Store> {
    let file = options.dir.join(L::FILE);
    fs::metadata(&file).map_err(|error| EngineError::file(L::ID, "find", file, error))?;
    let env = Env::<L>::open(&options.dir, flags_of::<L>(options, set))?;
    Ok(Store::Kv(Box::new(Databases::new(env, options.dir.display().to_string(), false)?)))
}

/// An open environment. A table's number is the library's handle of its database, which clients
/// share.
struct Databases<L: Library> {
    env: Arc<Env<L>>,
    reader: Reader<L>,
    dir: String,
    /// Whether missing tables are created. They are not in another process's environment.
    creates: bool,
}

impl<L: Library> Databases<L> {
    fn new(env: Arc<Env<L>>, dir: String, creates: bool) -> Result<Self> {
        Ok(Self { reader: Reader::new(&env)?, env, dir, creates })
    }

    /// Does `work` in a transaction that is committed, or rolled back if it fails.
    fn write<T>(&self, work: impl FnOnce(&mut Writer<L>) -> Result<T>) -> Result<T> {
        let mut writer = Writer::begin(&self.env)?;
        let done = work(&mut writer)?;
        writer.commit().map(|()| done)
    }
}

impl<L: Library> Lifecycle for Databases<L> {
    /// Syncs the pages to the disk. There is no log to checkpoint, and nothing can be compacted in
    /// place.
    fn maintain(&mut self) -> Result<()> {
        self.env.sync()
    }

    fn limits(&self) -> Limits {
        Limits {
            tables: Some(TABLES as usize),
            key_bytes: Some(self.env.longest_key()),
            manual: L::MANUAL,
            ..Limits::default()
        }
    }

    /// Processes can share the environment, because locks are on. A snapshot keeps other processes
    /// from reusing its pages.
    fn join(&self) -> Join {
        Join::At(self.dir.clone())
    }

    fn tier_settings(&mut self) -> Result<Vec<(String, String)>> {
        let set = switches(self.env.facts()?, L::FLAGS);
        Ok(set.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn connection(&mut self) -> Result<ConnectionParameters> {
        let facts = self.env.facts()?;
        let set = L::FLAGS.iter().filter(|(_, flag)| facts.has(*flag));
        let names: Vec<&str> = set.map(|(name, _)| *name).collect();
        let map = facts.map.to_string();
        Ok(vec![("dir", self.dir.clone()), ("flags", names.join(" ")), ("map_bytes", map)])
    }

    /// Opens another client with its own transactions on the same environment and tables. Readers
    /// never wait, and a writer waits for the one before it. (The manuals forbid a process to open
    /// an environment twice.)
    fn open_client(&mut self) -> Result<ClientOpener> {
        let (env, dir, creates) = (Arc::clone(&self.env), self.dir.clone(), self.creates);
        Ok(ClientOpener::kv(move || Self::new(env, dir, creates)))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery: it has no log to recover, and opens the same whatever came before";
        Err(EngineError::unsupported(L::ID, what))
    }

    fn check(&mut self) -> Result<Checked> {
        L::walk(&self.env)
    }

    /// Closes the environment once no client has it open.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl<L: Library> KvStore for Databases<L> {
    fn table(&mut self, def: &TableDef<'_>) -> Result<Table> {
        let name = c_string(L::ID, "open a table", def.name)?;
        self.write(|writer| writer.open(&name, self.creates))
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.write(|writer| writer.clear(table))
    }

    /// Appends pairs, which fills pages without a search.
    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        self.write(|writer| writer.append(table, pairs))
    }

    /// Deletes at a cursor: "operations such as `MDB_NEXT` can still be used on it"
    /// (`mdb_cursor_del`), so only the first key is searched for.
    fn delete_range(&mut self, table: Table, from: &[u8], to: &[u8]) -> Result<()> {
        self.write(|writer| writer.delete_range(table, from, to))
    }

    fn deletes_range(&self, _: Table) -> &'static str {
        "a cursor that deletes one key after another, in one commit"
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        match scope {
            Scope::Snapshot => work(&mut self.reader.snapshot()?),
            Scope::Batch => self.write(|writer| work(writer)),
            Scope::PerOperation => work(&mut Autocommit::new(self)),
        }
    }
}
