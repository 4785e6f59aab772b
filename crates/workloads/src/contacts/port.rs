//! What the workload needs of a store, in its own words.

use arrayvec::ArrayString;
use embermark_contract::sql::ResultRow;
use embermark_contract::{EngineError, Lifecycle, Result};
use embermark_data::contacts::Contact;
use embermark_meter::Meter;
use embermark_model::fingerprint::{Checksum, Fingerprint};
use embermark_model::result::Execution;

use super::phase::{Column, Phase};
use crate::Strategy;

/// The columns of a contact, in their order.
pub(super) const COLUMNS: [&str; 9] =
    ["id", "lastname", "firstname", "street", "city", "state", "zip", "country", "phone"];

/// A contact as a store gives it back: its id, and the columns that follow it in [`COLUMNS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored<'a> {
    pub id: i64,
    pub texts: [&'a str; 8],
}

impl<'a> Stored<'a> {
    /// What a store must give back of a contact.
    pub(super) fn of(contact: &'a Contact) -> Self {
        let Contact { id, lastname, firstname, street, city, state, zip, country, phone } = contact;
        Self { id: *id, texts: [lastname, firstname, street, city, state, zip, country, phone] }
    }

    /// A row of all columns.
    pub(super) fn in_row(row: &'a dyn ResultRow) -> Result<Self> {
        let null = |column: usize| {
            let what = format!("column {} is NULL", COLUMNS[column]);
            EngineError::failed("the engine", "give back a contact", what)
        };
        let mut texts = [""; 8];
        for (at, text) in texts.iter_mut().enumerate() {
            *text = row.text(at + 1)?.ok_or_else(|| null(at + 1))?;
        }
        Ok(Self { id: row.int(0)?.ok_or_else(|| null(0))?, texts })
    }

    /// Binds all of its columns together.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.texts.iter().fold(Fingerprint::default().int(self.id), |all, text| all.text(text))
    }

    /// The same as a contact of its own; `None` when a column is longer than a contact's.
    pub(super) fn contact(&self) -> Option<Contact> {
        let [lastname, firstname, street, city, state, zip, country, phone] = self.texts;
        Some(Contact {
            id: self.id,
            lastname: ArrayString::from(lastname).ok()?,
            firstname: ArrayString::from(firstname).ok()?,
            street: ArrayString::from(street).ok()?,
            city: ArrayString::from(city).ok()?,
            state: ArrayString::from(state).ok()?,
            zip: ArrayString::from(zip).ok()?,
            country: ArrayString::from(country).ok()?,
            phone: ArrayString::from(phone).ok()?,
        })
    }
}

/// How chosen rows are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// All together: by one statement, or in the transaction that finds them.
    Together,
    /// Found first, then each by its id and committed alone.
    RowByRow,
}

/// A table of contacts in a store, with an index on the state and none on the zip code.
pub(super) trait AddressBook {
    /// Who does a step: the engine, or code of ours over its rows.
    fn execution(&self, _step: Phase) -> Execution {
        Execution::Native
    }

    /// Who answered the selections since the table was made [ready](Self::ready) for a step, where its
    /// store has two copies of the rows that can.
    fn answered_by(&self, _step: Phase) -> Option<Execution> {
        None
    }

    /// Makes the table anew, empty, and its index.
    fn clear(&mut self) -> Result<()>;

    /// Prepares what can be before the clock of a step starts.
    fn ready(&mut self, _step: Phase, _by: Strategy) -> Result<()> {
        Ok(())
    }

    /// Ends what is open, opens it again and reads the contact of that id: timed.
    fn open_close(&mut self, id: i64) -> Result<Checksum>;

    /// Closes the database and opens it again, with tables and statements as before.
    fn reopen(&mut self) -> Result<()>;

    /// Inserts, counting operations with the meter, and tells how many rows went in: timed.
    fn insert(&mut self, contacts: &[Contact], by: Strategy, meter: &mut Meter) -> Result<u64>;

    /// Fetches every column of the contacts chosen by a column: timed.
    fn select(&mut self, by: Column) -> Result<Checksum>;

    /// Sets the fresh value in the contacts chosen by a column: timed. Tells how many there were;
    /// `None` where an engine does not say. Code of ours that makes many commits of it ends when
    /// the time of the meter has. Row by row the meter counts them.
    fn update(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>>;

    /// Deletes the contacts chosen by a column: as [`update`](Self::update).
    fn delete(&mut self, by: Column, how: Changes, meter: &mut Meter) -> Result<Option<u64>>;

    /// Visits every row, in any order.
    fn contents(&mut self, visit: &mut dyn FnMut(&Stored<'_>)) -> Result<()>;

    /// What every database has.
    fn lifecycle(&mut self) -> &mut dyn Lifecycle;

    /// Closes the database.
    fn close(self: Box<Self>) -> Result<()>;
}
