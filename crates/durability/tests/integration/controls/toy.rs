//! Toy engines: a map whose commits are appended to a file or written into it in place, correctly
//! and incorrectly.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions as FileOptions};
use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
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
    /// Before: it is written and synced with the next one.
    Before,
    /// After an attempt to write it, which may have failed.
    Anyway,
    /// After each of its rows was written to its own slot, where a failure leaves some of them.
    InPlace,
}

pub struct Toy {
    pub id: &'static str,
    pub acknowledges: Acknowledges,
    /// Whether it has a check, which reports a fault for a database that was not closed.
    pub finds_fault: bool,
}

/// File that exists while a database is open whose check reports faults.
const OPEN: &str = "open";

impl Engine for Toy {
    fn info(&self) -> Info {
        let (kind, family) = (Kind::Embedded, DataModel::KeyValue);
        Info { id: self.id, name: self.id, kind, family, licence: "-" }
    }

    fn availability(&self) -> Availability {
        Availability::Ready { version: "1".to_owned() }
    }

    /// Every toy promises all tiers.
    fn tier(&self, durability: Durability) -> Tier {
        Tier::Offered { effective_durability: durability, setting: "as it is", manual: "" }
    }

    fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let failed = |error: std::io::Error| EngineError::failed(self.id, "open its log", error);
        let path = options.dir.join("log");
        let mut options_of_log = FileOptions::new();
        let mut log =
            options_of_log.read(true).write(true).create(true).open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        log.read_to_end(&mut bytes).map_err(failed)?;
        let (map, whole) = match self.acknowledges {
            Acknowledges::InPlace => (decode_slots(&bytes), bytes.len()),
            _ => replay(&bytes),
        };
        log.set_len(whole as u64).map_err(failed)?;
        log.seek(SeekFrom::End(0)).map_err(failed)?;
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
        let (changes, undo, late) = (Vec::new(), Vec::new(), Vec::new());
        let store = ToyStore { id, log, map, acknowledges, changes, undo, late, open, was_open };
        Ok(Opened::embedded(store, "1", []))
    }
}

type Map = BTreeMap<Vec<u8>, Vec<u8>>;
/// A key and its value. `None` if it is removed.
type Change = (Vec<u8>, Option<Vec<u8>>);

/// Encodes a commit for the log: length, digest, changes.
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

/// Returns the map that the complete commits of a log leave, and where these end.
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

/// Bytes of a row's slot: those of the longest row, and two for its length.
const SLOT: usize = 512;

/// Returns the position of the slot of a four-byte key.
fn slot(key: &[u8]) -> u64 {
    u32::from_be_bytes(key.try_into().unwrap()).into()
}

/// Returns the content of a row's slot: its length plus one, and the row. All zeros if there is
/// none.
fn encode_slot(value: Option<&[u8]>) -> Vec<u8> {
    let length = value.map_or(0, |value| value.len() as u16 + 1).to_le_bytes();
    let mut slot = [&length, value.unwrap_or_default()].concat();
    slot.resize(SLOT, 0);
    slot
}

/// Reads the map from its slots.
fn decode_slots(bytes: &[u8]) -> Map {
    let row = |(at, slot): (usize, &[u8])| {
        let length = usize::from(u16::from_le_bytes(*slot.first_chunk().unwrap()));
        let value = slot.get(2..length.checked_sub(1)? + 2)?;
        Some(((at as u32).to_be_bytes().to_vec(), value.to_vec()))
    };
    bytes.chunks_exact(SLOT).enumerate().filter_map(row).collect()
}

struct ToyStore {
    id: &'static str,
    log: File,
    map: Map,
    acknowledges: Acknowledges,
    changes: Vec<Change>,
    /// The earlier content of each of them.
    undo: Vec<Change>,
    /// What was acknowledged but not written.
    late: Vec<u8>,
    open: Option<PathBuf>,
    was_open: bool,
}

impl ToyStore {
    fn commit(&mut self) -> Result<()> {
        let changes = std::mem::take(&mut self.changes);
        let undo = std::mem::take(&mut self.undo);
        let (id, length) = (self.id, self.log.stream_position());
        let written = match self.acknowledges {
            Acknowledges::Before => {
                let frame = std::mem::replace(&mut self.late, frame(&changes));
                self.write(&frame)
            }
            Acknowledges::Anyway => {
                let _ = self.write(&frame(&changes));
                return Ok(());
            }
            Acknowledges::InPlace => changes.iter().try_for_each(|(key, value)| {
                let at = slot(key) * SLOT as u64;
                self.log.write_all_at(&encode_slot(value.as_deref()), at)
            }),
            Acknowledges::Synced | Acknowledges::Written => self.write(&frame(&changes)),
        };
        written.map_err(|error| {
            for (key, value) in undo.into_iter().rev() {
                match value {
                    Some(value) => self.map.insert(key, value),
                    None => self.map.remove(&key),
                };
            }
            if let (Ok(length), Acknowledges::Synced | Acknowledges::Written) =
                (length, self.acknowledges)
            {
                // A partly written commit must not precede the next one.
                self.log.set_len(length).unwrap();
                self.log.seek(SeekFrom::Start(length)).unwrap();
            }
            EngineError::failed(id, "commit", error)
        })
    }

    fn write(&mut self, frame: &[u8]) -> std::io::Result<()> {
        self.log.write_all(frame)?;
        match self.acknowledges {
            Acknowledges::Synced | Acknowledges::Before => self.log.sync_data(),
            _ => Ok(()),
        }
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
        let mut checked = Checked::new("whether it was closed");
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
        let before = self.map.insert(key.to_vec(), value.to_vec());
        self.undo.push((key.to_vec(), before));
        self.changes.push((key.to_vec(), Some(value.to_vec())));
        Ok(())
    }

    fn delete(&mut self, _: Table, key: &[u8]) -> Result<bool> {
        self.changes.push((key.to_vec(), None));
        let before = self.map.remove(key);
        let is_there = before.is_some();
        self.undo.push((key.to_vec(), before));
        Ok(is_there)
    }
}
