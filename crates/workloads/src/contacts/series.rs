//! Contacts in a series store. Its index is of tags, so the state is the tag; a deletion knows tags
//! and times and no fields, and a tag is part of a point's key: what concerns the zip code takes
//! code of ours.

use std::fmt::Write;

use arrayvec::ArrayString;
use embermark_contract::series::SeriesStore;
use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::contacts::Contact;
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;

use super::phase::{Column, Phase};
use super::points::{Loaded, Moved, Refreshed, with_point};
use super::port::{AddressBook, COLUMNS, Changes, Stored};
use crate::Strategy;
use crate::reopenable::Reopenable;
use crate::row_source::RowSource;

const CONTACTS: &str = "contacts";

/// Rows written anew or deleted between two looks at the clock.
const BETWEEN_LOOKS: usize = 256;

/// The measurement. A store of series commits point by point, whatever the strategy, and does not
/// tell how many it changed.
pub(super) struct SeriesBook {
    store: Reopenable<dyn SeriesStore>,
    /// Room for a statement.
    text: String,
    // Rows found, to be changed or deleted: what each kind of change has to know of them.
    ids: Vec<i64>,
    keys: Vec<(i64, ArrayString<2>)>,
    contacts: Vec<Contact>,
}

impl SeriesBook {
    /// Of a measurement that holds at most so many rows.
    pub(super) fn new(store: Reopenable<dyn SeriesStore>, rows: usize) -> Self {
        Self {
            store,
            text: String::with_capacity(256),
            ids: Vec::with_capacity(rows),
            keys: Vec::with_capacity(rows),
            contacts: Vec::with_capacity(rows),
        }
    }

    /// Visits all columns of the rows of a condition, which may be empty.
    fn query(&mut self, condition: &str, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        let text = select(&COLUMNS, condition);
        self.store.query(&text, &COLUMNS, &mut |row| {
            visit(&Stored::in_row(row)?);
            Ok(())
        })
    }

    fn read(&mut self, condition: &str) -> Result<Checksum> {
        let mut found = Checksum::default();
        self.query(condition, &mut |contact| found += contact.fingerprint())?;
        Ok(found)
    }

    /// Deletes one point.
    fn remove(&mut self, id: i64, state: &str) -> Result<()> {
        self.text.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "DELETE FROM {CONTACTS} WHERE state = '{state}' AND time = {id}");
        self.store.execute(&self.text)
    }

    /// Writes the rows of the chosen zip under the fresh state, and deletes what they were before.
    fn move_by_zip(&mut self, meter: &mut Meter) -> Result<u64> {
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.clear();
        let mut misfit = None;
        self.query(&chosen(Column::Zip), &mut |stored| match stored.contact() {
            Some(contact) => contacts.push(contact),
            None => misfit = Some(stored.id),
        })?;
        if let Some(id) = misfit {
            let what = format!("a column of row {id} is longer than any that was written");
            return Err(misread(what));
        }
        let done = some_at_a_time(&contacts, meter, |some| {
            self.store.bulk(CONTACTS, &mut Moved::new(some))?;
            some.iter().try_for_each(|contact| self.remove(contact.id, &contact.state))
        });
        self.contacts = contacts;
        done
    }

    fn delete_by_zip(&mut self, meter: &mut Meter) -> Result<u64> {
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        let columns = ["id", Column::State.name()];
        self.store.query(&select(&columns, &chosen(Column::Zip)), &columns, &mut |row| {
            let state = row.text(1)?.and_then(|state| ArrayString::from(state).ok());
            keys.push((id(row)?, state.ok_or_else(|| misread("a state is none"))?));
            Ok(())
        })?;
        let done = some_at_a_time(&keys, meter, |some| {
            some.iter().try_for_each(|(id, state)| self.remove(*id, state))
        });
        self.keys = keys;
        done
    }

    fn refresh_by_state(&mut self) -> Result<u64> {
        let Self { store, ids, .. } = self;
        ids.clear();
        store.query(&select(&["id"], &chosen(Column::State)), &["id"], &mut |row| {
            ids.push(id(row)?);
            Ok(())
        })?;
        store.bulk(CONTACTS, &mut Refreshed::new(ids))
    }
}

fn select(columns: &[&str], condition: &str) -> String {
    format!("SELECT {} FROM {CONTACTS}{condition}", columns.join(", "))
}

/// Points are known by their tags and time and have no id to be changed by.
fn together(how: Changes) -> Result<()> {
    match how {
        Changes::Together => Ok(()),
        Changes::RowByRow => {
            let what = "rows that are changed one by one: a point has no id, but tags and a time";
            Err(EngineError::unsupported("this store of series", what))
        }
    }
}

/// The condition of the rows chosen by a column.
fn chosen(by: Column) -> String {
    format!(" WHERE {} = '{}'", by.name(), by.chosen())
}

/// The id, in the first column.
fn id(row: &dyn ResultRow) -> Result<i64> {
    row.int(0)?.ok_or_else(|| misread("an id is NULL"))
}

fn misread(what: impl ToString) -> EngineError {
    EngineError::failed("the engine", "give back a contact", what)
}

/// Does something to rows, some at a time, until they or the time are used up; for how many.
fn some_at_a_time<T>(
    rows: &[T],
    meter: &mut Meter,
    mut change: impl FnMut(&[T]) -> Result<()>,
) -> Result<u64> {
    let mut done = 0;
    for some in rows.chunks(BETWEEN_LOOKS) {
        if done > 0 && meter.expired() {
            break;
        }
        change(some)?;
        done += some.len() as u64;
    }
    Ok(done)
}

impl AddressBook for SeriesBook {
    fn execution(&self, step: Phase) -> Execution {
        match step {
            Phase::Update(_) | Phase::Delete(Column::Zip) => Execution::ClientSide,
            _ => Execution::Native,
        }
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(CONTACTS)
    }

    fn open_close(&mut self, id: i64) -> Result<Checksum> {
        self.reopen()?;
        self.read(&format!(" WHERE time = {id}"))
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()
    }

    fn insert(&mut self, contacts: &[Contact], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let inserted = if by == Strategy::Bulk {
            let mut points = Loaded::new(RowSource::new(contacts, None, meter));
            let inserted = self.store.bulk(CONTACTS, &mut points)?;
            points.source.count_given();
            inserted
        } else {
            meter.each(contacts.len() as u64, |i| {
                with_point(&contacts[i], |point| self.store.write(CONTACTS, point))
            })?
        };
        self.store.flush()?;
        Ok(inserted)
    }

    fn select(&mut self, by: Column) -> Result<Checksum> {
        self.read(&chosen(by))
    }

    fn update(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        together(how)?;
        let done = match by {
            Column::State => self.refresh_by_state()?,
            Column::Zip => self.move_by_zip(meter)?,
        };
        self.store.flush()?;
        Ok(Some(done))
    }

    fn delete(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>> {
        together(how)?;
        if by == Column::Zip {
            return self.delete_by_zip(meter).map(Some);
        }
        self.store.execute(&format!("DELETE FROM {CONTACTS}{}", chosen(by)))?;
        Ok(None)
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        self.query("", visit)
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
