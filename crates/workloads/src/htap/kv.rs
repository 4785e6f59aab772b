//! Dogs in a key-value store: the key is the UUID's 16 bytes, the value the age in one byte, the
//! length of the name in another, the name and the breed.

use std::ops::ControlFlow;

use arrayvec::{ArrayString, ArrayVec};
use embermark_contract::kv::{KvStore, Pairs, Range, Table, TableDef};
use embermark_contract::{EngineError, Result, Scope};
use embermark_data::dogs::Dog;
use embermark_meter::Meter;
use embermark_model::result::Execution;

use super::port::{Dogs, Stored};
use crate::Strategy;
use crate::row_source::RowSource;

type Key = [u8; 16];
type Value = ArrayVec<u8, 64>;

pub(super) struct KvDogs {
    store: Box<dyn KvStore>,
    table: Table,
    counts: Execution,
}

impl KvDogs {
    pub(super) fn new(mut store: Box<dyn KvStore>) -> Result<Self> {
        let table = store.table(&TableDef {
            name: "dog",
            key_length: Some(size_of::<Key>()),
            indexes: &[],
        })?;
        let counts = if store.within(Scope::Snapshot, |s| s.count(table))?.is_some() {
            Execution::Native
        } else {
            Execution::ClientSide
        };
        Ok(Self { store, table, counts })
    }
}

fn key(dog: &Dog) -> Key {
    let digits = dog.id.bytes().filter_map(|byte| char::from(byte).to_digit(16));
    let bits = digits.fold(0, |bits: u128, digit| bits << 4 | u128::from(digit));
    bits.to_be_bytes()
}

/// Names and breeds are of lists whose longest fit.
fn value(dog: &Dog) -> Value {
    let mut value = Value::new();
    value.push(dog.age as u8);
    value.push(dog.name.len() as u8);
    value.extend(dog.name.bytes().chain(dog.breed.bytes()).take(62));
    value
}

/// A key as the UUID's text.
fn text(key: &[u8]) -> ArrayString<36> {
    let mut text = ArrayString::new();
    for (place, byte) in key.iter().take(16).enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for nibble in [byte >> 4, byte & 0xf] {
            text.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
    }
    text
}

fn stored<'a>(id: &'a str, value: &'a [u8]) -> Option<Stored<'a>> {
    let [age, length, names @ ..] = value else { return None };
    let (name, breed) = names.split_at_checked(usize::from(*length))?;
    let (name, breed) = (str::from_utf8(name).ok()?, str::from_utf8(breed).ok()?);
    Some(Stored { id, name, age: i64::from(*age), breed })
}

struct DogPairs<'a> {
    source: RowSource<'a, Dog>,
    key: Key,
    value: Value,
}

impl Pairs for DogPairs<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let dog = self.source.advance()?;
        (self.key, self.value) = (key(dog), value(dog));
        Some((&self.key, &self.value))
    }
}

impl Dogs for KvDogs {
    fn counts(&self) -> Execution {
        self.counts
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn insert(&mut self, dogs: &[Dog], by: Strategy, meter: &mut Meter) -> Result<()> {
        if by == Strategy::Bulk {
            let source =
                RowSource::by_key(dogs, self.store.bulk_sorted(), |dog| dog.id.as_str(), meter);
            let mut pairs = DogPairs { source, key: [0; _], value: Value::new() };
            self.store.bulk(self.table, &mut pairs)?;
            pairs.source.count_given();
            return Ok(());
        }
        let Self { store, table, .. } = self;
        by.each(dogs.len(), meter, |scope, part| {
            store.within(scope, |operations| {
                part.each(|i| {
                    let dog = &dogs[i];
                    operations.put(*table, &key(dog), &value(dog))
                })
            })
        })?;
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        let table = self.table;
        self.store.within(Scope::Snapshot, |snapshot| {
            if let Some(counted) = snapshot.count(table)? {
                return Ok(counted);
            }
            let mut counted = 0;
            snapshot.scan(table, Range::default(), &mut |_, _| {
                counted += 1;
                ControlFlow::Continue(())
            })?;
            Ok(counted)
        })
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let (mut broken, table) = (None, self.table);
        self.store.within(Scope::Snapshot, |snapshot| {
            snapshot.scan(table, Range::default(), &mut |key, value| {
                match stored(&text(key), value) {
                    Some(dog) => visit(&dog),
                    None => broken = Some(format!("{value:?} is no value that was put")),
                }
                ControlFlow::Continue(())
            })
        })?;
        broken.map_or(Ok(()), |what| Err(EngineError::failed("the store", "give back a dog", what)))
    }

    fn maintain(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

#[cfg(test)]
mod tests;
