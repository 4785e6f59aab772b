//! What the stand-in keeps: handles, files as sorted maps, and orders to fail.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{c_char, c_int};
use std::ops::Bound::{Excluded, Unbounded};

use super::{BAD_POINTER, Bytes, Handle, MOST, Outcome, write};

/// A file on the stand-in's disk.
#[derive(Clone, Default)]
pub struct Data {
    pub fixed: usize,
    pub variable: bool,
    pub indexes: Vec<Index>,
    pub records: BTreeMap<u64, Bytes>,
    pub next: u64,
}

#[derive(Clone)]
pub struct Index {
    pub at: usize,
    pub length: usize,
    pub duplicates: bool,
    pub keys: BTreeSet<(Bytes, u64)>,
}

type Cursor = (usize, Bytes, u64);

pub enum Thing {
    /// A client, with the disk as it was when the transaction began.
    Client(Option<BTreeMap<Bytes, Data>>),
    File {
        client: usize,
        path: Bytes,
        accelerated: bool,
        cursor: Option<Cursor>,
    },
    FileAttributes {
        fixed: usize,
        variable: bool,
    },
    IndexAttributes {
        number: Option<usize>,
        duplicates: bool,
        segments: Vec<usize>,
    },
    Segment(Option<(usize, usize)>),
    Version(bool),
    Information(Option<u64>),
    Payload(Vec<Bytes>),
    Created(Option<usize>),
    Wanted {
        count: usize,
        length: usize,
        skip: bool,
    },
    Found(Option<Vec<Bytes>>),
}

#[derive(Default)]
pub struct State {
    pub things: HashMap<usize, Thing>,
    pub made: usize,
    pub last: HashMap<usize, c_int>,
    pub disk: BTreeMap<Bytes, Data>,
    pub calls: HashMap<String, u64>,
    pub fault: Option<(String, u64, c_int)>,
    /// Number of files that were still open when their client was reset.
    pub swept: usize,
}

thread_local! { pub static STATE: RefCell<State> = RefCell::default(); }

macro_rules! accessors {
    ($($name:ident: $pattern:pat => $out:expr, $of:ty;)*) => {
        impl State {
            $(pub fn $name(&mut self, handle: Handle) -> Outcome<$of> {
                match self.things.get_mut(&(handle as usize)) {
                    Some($pattern) => Ok($out),
                    _ => Err(BAD_POINTER),
                }
            })*
        }
    };
}

accessors! {
    client: Thing::Client(undo) => undo, &mut Option<BTreeMap<Bytes, Data>>;
    segment: Thing::Segment(field) => field, &mut Option<(usize, usize)>;
    version: Thing::Version(filled) => filled, &mut bool;
    information: Thing::Information(records) => records, &mut Option<u64>;
    payload: Thing::Payload(records) => records, &mut Vec<Bytes>;
    created: Thing::Created(count) => count, &mut Option<usize>;
    found: Thing::Found(records) => records, &mut Option<Vec<Bytes>>;
    wanted: Thing::Wanted { count, length, skip } => (count, length, skip),
        (&mut usize, &mut usize, &mut bool);
    attributes: Thing::FileAttributes { fixed, variable } => (fixed, variable),
        (&mut usize, &mut bool);
    index: Thing::IndexAttributes { number, duplicates, segments } =>
        (number, duplicates, segments), (&mut Option<usize>, &mut bool, &mut Vec<usize>);
    file: Thing::File { client, path, accelerated, cursor } =>
        (*client, path.clone(), *accelerated, cursor),
        (usize, Bytes, bool, &mut Option<Cursor>);
}

impl Data {
    pub fn key(&self, index: usize, record: &[u8]) -> Bytes {
        let index = &self.indexes[index];
        record[index.at..index.at + index.length].to_vec()
    }

    /// Whether a record may be stored; `own` is the one that it replaces.
    pub fn admit(&self, record: &[u8], own: Option<u64>) -> Outcome<()> {
        if record.len() < self.fixed || (!self.variable && record.len() > self.fixed) {
            return Err(22);
        }
        for (number, index) in self.indexes.iter().enumerate() {
            let key = self.key(number, record);
            let mut same = index.keys.range((key.clone(), 0)..=(key, u64::MAX));
            if !index.duplicates && same.any(|&(_, id)| Some(id) != own) {
                return Err(5);
            }
        }
        Ok(())
    }

    pub fn store(&mut self, id: u64, record: Bytes) {
        for number in 0..self.indexes.len() {
            let key = self.key(number, &record);
            self.indexes[number].keys.insert((key, id));
        }
        self.records.insert(id, record);
    }

    pub fn remove(&mut self, id: u64) -> Outcome<()> {
        let record = self.records.remove(&id).ok_or(8)?;
        for number in 0..self.indexes.len() {
            let key = self.key(number, &record);
            self.indexes[number].keys.remove(&(key, id));
        }
        Ok(())
    }

    pub fn create(&mut self, record: &[u8]) -> Outcome<()> {
        self.admit(record, None)?;
        self.next += 1;
        self.store(self.next, record.to_vec());
        Ok(())
    }

    pub fn step(&self, cursor: &Cursor, forward: bool) -> Option<Cursor> {
        let (index, key, id) = cursor;
        let here = (key.clone(), *id);
        let keys = &self.indexes[*index].keys;
        let next = match forward {
            true => keys.range((Excluded(here), Unbounded)).next(),
            false => keys.range((Unbounded, Excluded(here))).next_back(),
        };
        next.map(|(key, id)| (*index, key.clone(), *id))
    }

    pub fn add_index(&mut self, field: (usize, usize), duplicates: bool) -> Outcome<()> {
        let (at, length) = field;
        if length == 0 || length > 255 {
            return Err(29);
        }
        if at + length > self.fixed {
            return Err(27);
        }
        self.indexes.push(Index { at, length, duplicates, keys: BTreeSet::new() });
        let number = self.indexes.len() - 1;
        for (id, record) in &self.records {
            let key = record[at..at + length].to_vec();
            self.indexes[number].keys.insert((key, *id));
        }
        Ok(())
    }
}

impl State {
    pub fn make(&mut self, thing: Thing, into: *mut Handle) -> Outcome<()> {
        if into.is_null() {
            return Err(BAD_POINTER);
        }
        self.made += 1;
        // The addresses are not null, not reused, and in no memory.
        let handle = self.made * 16;
        self.things.insert(handle, thing);
        // SAFETY: not null; the caller gives room for a handle.
        unsafe { *into = handle as Handle };
        Ok(())
    }

    pub fn data(&mut self, path: &Bytes) -> Outcome<&mut Data> {
        self.disk.get_mut(path).ok_or(3)
    }

    pub fn in_transaction(&mut self, client: usize) -> bool {
        self.client(client as Handle).is_ok_and(|undo| undo.is_some())
    }

    /// Returns the data of a file, for a change.
    pub fn change(&mut self, file: Handle) -> Outcome<(&mut Data, Option<Cursor>)> {
        let (client, path, accelerated, cursor) = self.file(file)?;
        let cursor = cursor.clone();
        if accelerated && self.in_transaction(client) {
            return Err(41);
        }
        Ok((self.data(&path)?, cursor))
    }

    /// Moves a file's cursor and reads the record.
    pub fn maintain(
        &mut self,
        file: Handle,
        to: Option<Cursor>,
        none: c_int,
        (into, size, lock): (*mut c_char, c_int, c_int),
    ) -> Outcome<c_int> {
        let to = to.ok_or(none)?;
        if lock != 0 {
            return Err(81);
        }
        let (_, path, _, cursor) = self.file(file)?;
        *cursor = Some(to.clone());
        let record = self.data(&path)?.records.get(&to.2).ok_or(8)?;
        write(record, into, size)
    }

    pub fn bulk(
        &mut self,
        file: Handle,
        wanted: Handle,
        result: Handle,
        lock: c_int,
        forward: bool,
    ) -> Outcome<()> {
        let (count, length, skip) = self.wanted(wanted).map(|(c, l, s)| (*c, *l, *s))?;
        *self.found(result)? = None;
        if count == 0 || length == 0 || lock != 0 {
            return Err(62);
        }
        if count * length > MOST {
            return Err(97);
        }
        let (_, path, _, cursor) = self.file(file)?;
        let mut at = cursor.clone().ok_or(8)?;
        let data = self.data(&path)?;
        let (mut records, mut status) = (Vec::new(), 0);
        let mut first = !skip;
        while records.len() < count {
            if !std::mem::take(&mut first) {
                let Some(next) = data.step(&at, forward) else {
                    status = 9;
                    break;
                };
                at = next;
            }
            let record = &data.records[&at.2];
            records.push(record[..length.min(record.len())].to_vec());
            if record.len() < length {
                status = 22;
                break;
            }
        }
        *self.file(file)?.3 = Some(at);
        *self.found(result)? = Some(records);
        if status == 0 { Ok(()) } else { Err(status) }
    }
}
