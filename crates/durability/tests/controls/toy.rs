//! Toy engines: a map whose commits are appended to a file, done rightly and wrongly.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions as FileOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use embermark_contract::kv::{KvStore, Operations, Pairs, Range, Table, TableDef, Visit, Work};
use embermark_contract::{
    Availability, Checked, DataModel, Engine, EngineError, Info, Kind, Lifecycle, OpenOptions,
    Opened, Result, Scope, Tier,
};
use embermark_model::Durability;

/// When a commit is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Acknowledges {
    /// After it was written and synced.
    Synced,
    /// After it was written.
    Written,
    /// Before: it is written, and synced, with the next one.
    Before,
}

pub struct Toy {
    pub id: &'static str,
    pub acknowledges: Acknowledges,
    /// Whether it has a check, which finds fault with a database that was not closed.
    pub finds_fault: bool,
}

/// The file that is there while a database is open whose check finds fault.
const OPEN: &str = "open";

impl Engine for Toy {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        Info { id: self.id, name: self.id, kind, family, licence: "-" }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: "1".to_owned() }
    }

    /// All of them promise everything.
    fn tier(&self, durability: Durability) -> Tier {
        Tier::Offered { effective_durability: durability, setting: "as it is", manual: "" }
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let failed = |error: std::io::Error| EngineError::failed(self.id, "open its log", error);
        let path = options.dir.join("log");
        let mut options_of_log = FileOptions::new();
        let mut log =
            options_of_log.read(true).append(true).create(true).open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        log.read_to_end(&mut bytes).map_err(failed)?;
        let (map, whole) = replay(&bytes);
        log.set_len(whole as u64).map_err(failed)?;
        if self.acknowledges == Acknowledges::Synced {
            log.sync_all().map_err(failed)?;
            File::open(&options.dir).and_then(|dir| dir.sync_all()).map_err(failed)?;
        }
        let (acknowledges, id) = (self.acknowledges, self.id);
        let open = self.finds_fault.then(|| options.dir.join(OPEN));
        let was_open = open.as_ref().is_some_and(|open| open.exists());
        if let Some(open) = &open {
            File::create(open).map_err(failed)?;
        }
        let (changes, late) = (Vec::new(), Vec::new());
        let store = ToyStore { id, log, map, acknowledges, changes, late, open, was_open };
        Ok(Opened::embedded(store, "1", []))
    }
}

type Map = BTreeMap<Vec<u8>, Vec<u8>>;
/// A key, and its value; removed where that is `None`.
type Change = (Vec<u8>, Option<Vec<u8>>);

/// A commit in the log: length, digest, changes.
fn frame(changes: &[Change]) -> Vec<u8> {
    let body = serde_json::to_vec(changes).unwrap();
    let header = [body.len() as u64, digest(&body)];
    [&header[0].to_le_bytes()[..], &header[1].to_le_bytes(), &body].concat()
}

fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    hasher.finish()
}

/// The map that the whole commits of a log leave, and where these end.
fn replay(bytes: &[u8]) -> (Map, usize) {
    let (mut map, mut at) = (Map::new(), 0);
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    while let (Some(length), Some(expected)) = (number(at), number(at + 8)) {
        let Some(body) = bytes[at + 16..].get(..length as usize) else { break };
        if length == 0 || digest(body) != expected {
            break;
        }
        for (key, value) in serde_json::from_slice::<Vec<Change>>(body).unwrap() {
            match value {
                Some(value) => map.insert(key, value),
                None => map.remove(&key),
            };
        }
        at += 16 + length as usize;
    }
    (map, at)
}

struct ToyStore {
    id: &'static str,
    log: File,
    map: Map,
    acknowledges: Acknowledges,
    changes: Vec<Change>,
    /// What was acknowledged and is not written.
    late: Vec<u8>,
    open: Option<PathBuf>,
    was_open: bool,
}

impl ToyStore {
    fn commit(&mut self) -> Result<()> {
        let frame = frame(&std::mem::take(&mut self.changes));
        let written = match self.acknowledges {
            Acknowledges::Before => std::mem::replace(&mut self.late, frame),
            _ => frame,
        };
        let id = self.id;
        self.write(&written).map_err(|error| EngineError::failed(id, "commit", error))
    }

    fn write(&mut self, frame: &[u8]) -> std::io::Result<()> {
        self.log.write_all(frame)?;
        if self.acknowledges == Acknowledges::Written { Ok(()) } else { self.log.sync_data() }
    }
}

impl Lifecycle for ToyStore {
    fn maintain(&mut self) -> Result<()> {
        Ok(())
    }

    fn check(&mut self) -> Result<Checked> {
        if self.open.is_none() {
            return Err(EngineError::unsupported(self.id, "a check"));
        }
        let mut checked = Checked::by("whether it was closed");
        if self.was_open {
            checked.found("it was not closed");
        }
        Ok(checked)
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        let late = std::mem::take(&mut self.late);
        let id = self.id;
        let closed =
            self.write(&late).and_then(|()| self.open.take().map_or(Ok(()), fs::remove_file));
        closed.map_err(|error| EngineError::failed(id, "close", error))
    }
}

impl KvStore for ToyStore {
    fn table(&mut self, _: &TableDef<'_>) -> Result<Table> {
        Ok(Table(0))
    }

    fn clear(&mut self, _: Table) -> Result<()> {
        Err(EngineError::unsupported(self.id, "to clear a table"))
    }

    fn bulk(&mut self, table: Table, pairs: &mut dyn Pairs) -> Result<u64> {
        let mut count = 0;
        while let Some((key, value)) = pairs.next() {
            self.put(table, key, value)?;
            count += 1;
        }
        self.commit().map(|()| count)
    }

    fn transact(&mut self, scope: Scope, work: &mut Work<'_>) -> Result<()> {
        work(self)?;
        if scope == Scope::Snapshot { Ok(()) } else { self.commit() }
    }
}

impl Operations for ToyStore {
    fn get(&mut self, _: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        Ok(self.map.get(key).map(Vec::as_slice))
    }

    fn scan(&mut self, _: Table, _: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        for (key, value) in &self.map {
            if let ControlFlow::Break(()) = visit(key, value) {
                break;
            }
        }
        Ok(())
    }

    fn put(&mut self, _: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self.map.insert(key.to_vec(), value.to_vec());
        self.changes.push((key.to_vec(), Some(value.to_vec())));
        Ok(())
    }

    fn delete(&mut self, _: Table, key: &[u8]) -> Result<bool> {
        self.changes.push((key.to_vec(), None));
        Ok(self.map.remove(key).is_some())
    }
}
