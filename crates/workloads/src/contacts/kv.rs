//! Contacts in a key-value store: one table with an index on the state, which the engine keeps
//! itself or is kept beside it.

use std::ops::ControlFlow;

use embermark_contract::kv::{
    self, IndexDef, KvStore, Operations, Pairs, Range, Table, TableDef, Visit,
};
use embermark_contract::{EngineError, Lifecycle, Result, Scope};
use embermark_data::contacts::Contact;
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;

use super::columns::{self, Columns, Statements};
use super::phase::{Column, Phase};
use super::port::{AddressBook, Changes, Stored};
use super::record::{self, Key, Record};
use crate::mirrored::Mirrored;
use crate::reopenable::Reopenable;
use crate::row_source::RowSource;
use crate::{Strategy, strategy};

/// The number of the index on the state.
const BY_STATE: usize = 0;

pub(super) struct KvBook {
    store: Reopenable<dyn KvStore>,
    table: Table,
    /// Whether the engine itself keeps the index.
    keeps_index: bool,
    /// The same in columns.
    mirrored: Statements,
    /// The lowest state above the chosen one.
    beyond: Option<Vec<u8>>,
    /// Keys found, to be changed or deleted.
    found: Vec<Key>,
}

/// The table, of keys of one length.
fn table(store: &mut dyn KvStore) -> Result<Table> {
    let place = record::bytes(Column::State);
    let state = IndexDef { name: Column::State.name(), at: place.start, length: place.len() };
    let key_length = Some(size_of::<Key>());
    store.table(&TableDef { name: "contacts", key_length, indexes: &[state] })
}

impl KvBook {
    /// Of a table that holds at most so many rows.
    pub(super) fn new(
        mut store: Reopenable<dyn KvStore>,
        rows: usize,
        keeps_index: bool,
    ) -> Result<Self> {
        let table = table(&mut *store)?;
        let beyond = kv::beyond(Column::State.chosen().as_bytes());
        let mirrored = Mirrored::show(&mut *store, table, Columns)?;
        let found = Vec::with_capacity(rows);
        Ok(Self { store, table, keeps_index, mirrored, beyond, found })
    }

    /// Does something to each of the rows chosen by a column, in the transaction that finds them all
    /// first, since what is searched is not to change meanwhile; of many rows in further ones, until
    /// the time is used up. Counts those that were there.
    fn each(
        &mut self,
        by: Column,
        meter: &mut Meter,
        mut change: impl FnMut(&mut dyn Operations, Table, &Key) -> Result<bool>,
    ) -> Result<u64> {
        let Self { store, table, beyond, found, .. } = self;
        found.clear();
        let (mut done, mut next) = (0, 0);
        loop {
            store.within(Scope::Batch, |batch| {
                if next == 0 {
                    find(batch, *table, by, beyond.as_deref(), found)?;
                }
                let some = &found[next..];
                let some = &some[..some.len().min(strategy::batch(found.len()))];
                for key in some {
                    done += u64::from(change(batch, *table, key)?);
                }
                next += some.len();
                Ok(())
            })?;
            if next == found.len() || meter.expired() {
                return Ok(done);
            }
        }
    }

    /// Does something to each of the rows chosen by a column; counts those that were there.
    fn change(
        &mut self,
        by: Column,
        how: Changes,
        meter: &mut Meter,
        mut change: impl FnMut(&mut dyn Operations, Table, &Key) -> Result<bool>,
    ) -> Result<u64> {
        if how == Changes::Together {
            return self.each(by, meter, change);
        }
        let Self { store, table, beyond, found, .. } = self;
        found.clear();
        store.within(Scope::Snapshot, |snapshot| {
            find(snapshot, *table, by, beyond.as_deref(), found)
        })?;
        let mut done = 0;
        Strategy::CommitEach.each(found.len(), meter, |scope, part| {
            store.within(scope, |operations| {
                part.each(|i| {
                    done += u64::from(change(operations, *table, &found[i])?);
                    Ok(())
                })
            })
        })?;
        Ok(done)
    }
}

/// Takes down the keys of the rows chosen by a column.
fn find(
    operations: &mut dyn Operations,
    table: Table,
    by: Column,
    beyond: Option<&[u8]>,
    found: &mut Vec<Key>,
) -> Result<()> {
    visit(operations, table, by, beyond, &mut |key, _| {
        // What is no key of ours would be missed among the rows changed.
        found.extend(Key::try_from(key));
        ControlFlow::Continue(())
    })
}

/// Visits the rows chosen by a column; `beyond` is the lowest state above the chosen one.
fn visit(
    operations: &mut dyn Operations,
    table: Table,
    by: Column,
    beyond: Option<&[u8]>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    if by == Column::State {
        let range = Range::between(by.chosen().as_bytes(), beyond);
        return operations.find(table, BY_STATE, range, visit);
    }
    operations.scan(table, Range::default(), &mut |key, value| {
        if record::is_chosen(value, by) { visit(key, value) } else { ControlFlow::Continue(()) }
    })
}

struct ContactPairs<'a> {
    source: RowSource<'a, Contact>,
    key: Key,
    record: Record,
}

impl Pairs for ContactPairs<'_> {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        let contact = self.source.advance()?;
        (self.key, self.record) = (record::key(contact.id), record::encode(contact));
        Some((&self.key, &self.record))
    }
}

impl AddressBook for KvBook {
    fn execution(&self, step: Phase) -> Execution {
        match step {
            Phase::OpenClose => Execution::Native,
            Phase::Insert | Phase::Select(Column::State) if self.keeps_index => Execution::Native,
            _ => Execution::ClientSide,
        }
    }

    fn answered_by(&self, step: Phase) -> Option<Execution> {
        self.mirrored.answered_by(self.execution(step))
    }

    fn ready(&mut self, _: Phase, _: Strategy) -> Result<()> {
        self.mirrored.begin();
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn open_close(&mut self, id: i64) -> Result<Checksum> {
        self.reopen()?;
        let (key, table) = (record::key(id), self.table);
        self.store.within(Scope::PerOperation, |each| {
            let value = each.get(table, &key)?;
            let contact = value.and_then(|value| record::decode(&key, value));
            Ok(contact.iter().map(Stored::fingerprint).collect())
        })
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()?;
        self.table = table(&mut *self.store)?;
        self.mirrored = Mirrored::show(&mut *self.store, self.table, Columns)?;
        Ok(())
    }

    fn insert(&mut self, contacts: &[Contact], by: Strategy, meter: &mut Meter) -> Result<u64> {
        if by == Strategy::Bulk {
            let sorted = self.store.bulk_sorted();
            let source = RowSource::by_key(contacts, sorted, |contact| contact.id, meter);
            let mut pairs = ContactPairs { source, key: [0; _], record: [0; _] };
            let inserted = self.store.bulk(self.table, &mut pairs)?;
            pairs.source.count_given();
            return Ok(inserted);
        }
        let Self { store, table, .. } = self;
        by.each(contacts.len(), meter, |scope, part| {
            store.within(scope, |operations| {
                part.each(|i| {
                    let contact = &contacts[i];
                    operations.put(*table, &record::key(contact.id), &record::encode(contact))
                })
            })
        })
    }

    fn select(&mut self, by: Column) -> Result<Checksum> {
        let Self { store, table, mirrored, beyond, .. } = self;
        let mut found = Checksum::default();
        let side = store.ask(
            by.selected(),
            &mut found,
            &mut |store, found| {
                *found = Checksum::default();
                store.within(Scope::Snapshot, |snapshot| {
                    visit(snapshot, *table, by, beyond.as_deref(), &mut |key, value| {
                        // What is no contact is missing in the checksum.
                        if let Some(contact) = record::decode(key, value) {
                            *found += contact.fingerprint();
                        }
                        ControlFlow::Continue(())
                    })
                })
            },
            &mut |sql, number, found| {
                *found = columns::select((sql, number), mirrored, by)?;
                Ok(())
            },
        )?;
        mirrored.answered(side);
        Ok(found)
    }

    fn update(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        let done = self.change(by, how, meter, |batch, table, key| {
            batch.modify(table, key, &mut |value| record::refresh(value, by.sets()))
        })?;
        Ok(Some(done))
    }

    fn delete(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        self.change(by, how, meter, |batch, table, key| batch.delete(table, key)).map(Some)
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let mut broken = None;
        let Self { store, table, .. } = self;
        store.within(Scope::Snapshot, |snapshot| {
            snapshot.scan(*table, Range::default(), &mut |key, value| {
                match record::decode(key, value) {
                    Some(contact) => visit(&contact),
                    None => broken = Some(format!("{value:?} is no record that was put")),
                }
                ControlFlow::Continue(())
            })
        })?;
        broken.map_or(Ok(()), |what| {
            Err(EngineError::failed("the store", "give back a contact", what))
        })
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
