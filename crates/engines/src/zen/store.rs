//! The store over the engine's files.

use std::path::PathBuf;
use std::rc::Rc;

use super::NAME;
use super::bulk::Batch;
use super::client::Client;
use super::ffi::{Comparison, LIBRARY, MAXIMUM_RECORD_LENGTH, OpenMode};
use super::file::{self, Field, PRIMARY};
use super::table::{self, IsamTable};
use super::tier::tiers;
use crate::kv::{Pairs, Table};
use crate::{
    Checked, ClientOpener, EngineError, Join, Lifecycle, OpenOptions, Opened, Result, Tier, as_set,
};

/// A session, and the files it has open.
pub(super) struct Isam {
    pub tables: Vec<IsamTable>,
    pub client: Rc<Client>,
    pub dir: PathBuf,
    pub mode: OpenMode,
    /// Whether the engine has a transaction open.
    under_way: bool,
    /// The record that is being written or read.
    pub record: Box<[u8]>,
    /// A record that is about to be replaced.
    old: Box<[u8]>,
    /// A key as long as those of the table.
    pub key: Vec<u8>,
}

pub(super) fn open(options: &OpenOptions, &mode: &OpenMode) -> Result<Opened> {
    let api = LIBRARY.get()?;
    if let Tier::Unsupported { why } = tiers().tier(options.durability) {
        return Err(EngineError::unsupported(NAME, format!("this tier: {why}")));
    }
    let client = Rc::new(Client::new(api)?);
    let versions = client.versions()?;
    let settings = read_settings(&client, mode, options, &versions.client)?;
    let store = Isam {
        tables: Vec::new(),
        client,
        dir: options.dir.clone(),
        mode,
        under_way: false,
        record: vec![0; MAXIMUM_RECORD_LENGTH].into(),
        old: vec![0; MAXIMUM_RECORD_LENGTH].into(),
        key: Vec::new(),
    };
    Ok(Opened::embedded(store, versions.engine, settings))
}

/// Reads what decides speed and durability, as reported by a file that is made and removed for this
/// purpose.
fn read_settings(
    client: &Rc<Client>,
    mode: OpenMode,
    options: &OpenOptions,
    library: &str,
) -> Result<[(&'static str, String); 7]> {
    let path = table::path(&options.dir, "embermark")?;
    let probe = file::create(client, &path, 8, Field { at: 0, length: 8 }, mode)?;
    let facts = probe.facts()?;
    probe.close()?;
    file::delete(client, &path)?;
    let (open_mode, durability) = match mode {
        OpenMode::Accelerated => ("accelerated", "does not apply to accelerated mode"),
        OpenMode::Normal => ("normal", "on, as ZEN_TRANSACTION_DURABILITY says (not read back)"),
    };
    let loggable = if facts.loggable { "yes" } else { "no" };
    Ok([
        ("library", library.to_owned()),
        ("open mode", as_set(open_mode)),
        ("file version", facts.file_version),
        ("page size", facts.page_size),
        ("loggable", loggable.to_owned()),
        ("Transaction Durability", durability.to_owned()),
        ("cache", "as the engine is configured: its API does not set it".to_owned()),
    ])
}

impl Isam {
    /// Does work in a transaction, if the tier wants one; commits it, or undoes it in case of an
    /// error.
    #[inline]
    pub(super) fn within<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.mode == OpenMode::Accelerated {
            return work(self);
        }
        self.client.begin()?;
        self.under_way = true;
        let done = work(self);
        self.under_way = false;
        match done {
            Ok(value) => self.client.end().map(|()| value),
            Err(error) => {
                // The first error is the one to report.
                let _ = self.client.abort();
                Err(error)
            }
        }
    }

    /// Reads the record of a key into `self.record` and returns its length.
    #[inline]
    pub(super) fn fetch(&mut self, table: Table, key: &[u8]) -> Result<Option<usize>> {
        let table = &self.tables[table.0];
        if key.len() != table.key_length {
            return Ok(None);
        }
        let into = &mut self.record[..table.room()];
        table.file()?.retrieve(Comparison::Equal, PRIMARY, key, into)
    }

    pub(super) fn replace(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let table = &mut self.tables[table.0];
        let length = table.compose(key, value, &mut self.record)?;
        let (file, room) = (table.file()?, table.room());
        let record = &mut self.record[..length];
        if file.create(record)? {
            return Ok(());
        }
        match file.retrieve(Comparison::Equal, PRIMARY, key, &mut self.old[..room])? {
            Some(_) => file.update(record),
            None => {
                Err(EngineError::failed(NAME, "put a value", "its key was found and then missing"))
            }
        }
    }

    pub(super) fn load(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let table = &mut self.tables[table.0];
        let (mut batch, mut rows) = (Batch::default(), 0);
        while let Some((key, value)) = pairs.next() {
            let length = table.compose(key, value, &mut self.record)?;
            batch.add(table.file()?, &mut self.record[..length])?;
            rows += 1;
        }
        batch.flush(table.file()?).map(|()| rows)
    }

    /// Closes everything: transaction, files, session. All of it is tried; the first error is
    /// returned.
    fn release(&mut self) -> Result<()> {
        let aborted =
            if std::mem::take(&mut self.under_way) { self.client.abort() } else { Ok(()) };
        let closed = self.tables.iter_mut().map(IsamTable::close).fold(aborted, Result::and);
        closed.and(self.client.close())
    }
}

impl Lifecycle for Isam {
    /// Does nothing: the interface has no checkpoint, no compaction and no statistics. The engine
    /// writes changed pages by itself, bundled into system transactions
    /// (<http://docs.actian.com/psql/PSQLv11/prog_gde/fundmnts.04.12.html>).
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn join(&self) -> Join {
        Join::Exclusive(
            "this adapter opens one client: a second one was never tried against the engine",
        )
    }

    fn open_client(&mut self) -> Result<ClientOpener> {
        let what = "more than one client at a time: this adapter opens one, and a second one was never \
                    tried against the engine";
        Err(EngineError::unsupported(NAME, what))
    }

    fn crash_on_close(&mut self) -> Result<()> {
        let what = "recovery with a session: the engine recovers when the engine starts";
        Err(EngineError::unsupported(NAME, what))
    }

    fn check(&mut self) -> Result<Checked> {
        let what = "a check by a client: the Btrieve 2 interface has none";
        Err(EngineError::unsupported(NAME, what))
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.release()
    }
}

impl Drop for Isam {
    fn drop(&mut self) {
        // The error that led here is the one to report.
        let _ = self.release();
    }
}
