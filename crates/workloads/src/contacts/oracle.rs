//! The right answers, from the rows alone.

use std::fmt;

use arrayvec::ArrayString;
use embermark_data::contacts::Contact;
use embermark_model::answer::{Difference, Expected};
use embermark_model::fingerprint::Checksum;

use super::phase::{Column, Phase};
use super::port::{COLUMNS, Stored};

/// The rows, ids ascending, and the ids that `open_close` reads.
pub(super) struct Oracle {
    pub contacts: Vec<Contact>,
    pub drawn: Vec<i64>,
    /// Whether `open_close` reads a row.
    pub reads: bool,
}

impl Oracle {
    /// The rows that a column's chosen value is in.
    fn chosen(&self, by: Column) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().filter(move |contact| is_chosen(contact, by))
    }

    /// Rows or openings that a full run of a step has.
    pub(super) fn ops(&self, step: Phase) -> u64 {
        (match step {
            Phase::OpenClose => self.drawn.len(),
            Phase::Insert => self.contacts.len(),
            Phase::Select(by) | Phase::Update(by) | Phase::Delete(by) => self.chosen(by).count(),
        }) as u64
    }

    /// The answer to the first `ops` operations of a step.
    pub(super) fn answer(&self, step: Phase, ops: u64) -> Expected {
        let fingerprint = |contact: &Contact| Stored::of(contact).fingerprint();
        Expected::Checksum(match step {
            Phase::OpenClose if self.reads => {
                let first = usize::try_from(ops).unwrap_or(usize::MAX);
                let read = self.drawn.iter().take(first).filter_map(|id| self.place(*id));
                read.map(|place| fingerprint(&self.contacts[place])).collect::<Checksum>()
            }
            Phase::Select(by) => self.chosen(by).map(fingerprint).collect(),
            Phase::OpenClose | Phase::Insert | Phase::Update(_) | Phase::Delete(_) => {
                return Expected::Count(ops);
            }
        })
    }

    fn place(&self, id: i64) -> Option<usize> {
        self.contacts.binary_search_by_key(&id, |contact| contact.id).ok()
    }
}

fn is_chosen(contact: &Contact, by: Column) -> bool {
    match by {
        Column::State => &contact.state == by.chosen(),
        Column::Zip => &contact.zip == by.chosen(),
    }
}

/// A row after the update of those chosen by a column.
fn updated(mut contact: Contact, by: Column) -> Contact {
    // Both values fit their columns; one that did not would be found wrong in every store.
    match by.sets() {
        Column::State => contact.state = ArrayString::from(by.sets().fresh()).unwrap_or_default(),
        Column::Zip => contact.zip = ArrayString::from(by.sets().fresh()).unwrap_or_default(),
    }
    contact
}

/// Compares the rows of a whole store, in whatever order they come, with those that must be there
/// after some operations of a step, and keeps the first difference.
pub(super) struct ReadBack<'a> {
    oracle: &'a Oracle,
    step: Phase,
    ops: u64,
    /// Whether the step had more to change.
    ended_early: bool,
    seen: Vec<bool>,
    /// Rows found as the step leaves them, of those that it may have reached or not.
    reached: u64,
    difference: Option<Difference>,
}

impl<'a> ReadBack<'a> {
    pub(super) fn new(oracle: &'a Oracle, step: Phase, ops: u64) -> Self {
        let seen = vec![false; oracle.contacts.len()];
        let ended_early = step.changes_rows() && ops < oracle.ops(step);
        Self { oracle, step, ops, ended_early, seen, reached: 0, difference: None }
    }

    /// What may be in the store of the row at a place: either of the two. They differ where a change
    /// ended early, which may have reached the row or not; rows are inserted in their order.
    fn fate(&self, place: usize) -> [Option<Contact>; 2] {
        let row = self.oracle.contacts[place];
        let after = match self.step {
            Phase::Insert => return [((place as u64) < self.ops).then_some(row); 2],
            Phase::Update(by) if is_chosen(&row, by) => Some(updated(row, by)),
            Phase::Delete(by) if is_chosen(&row, by) => None,
            _ => return [Some(row); 2],
        };
        if self.ended_early { [Some(row), after] } else { [after; 2] }
    }

    /// Takes a row of the store.
    pub(super) fn see(&mut self, got: &Stored<'_>) {
        if self.difference.is_some() {
            return;
        }
        let Some(place) = self.oracle.place(got.id) else {
            return self.differ(format!("{} should not be in the store", Row(got)));
        };
        if std::mem::replace(&mut self.seen[place], true) {
            return self.differ(format!("row {} is in the store twice", got.id));
        }
        let fate = self.fate(place);
        let [before, after] = fate.each_ref().map(|row| row.as_ref().map(Stored::of));
        if after.as_ref() == Some(got) {
            self.reached += u64::from(before != after);
        } else if before.as_ref() != Some(got) {
            let text = match after.or(before) {
                None => format!("{} should not be in the store", Row(got)),
                Some(expected) => first_difference(&expected, got),
            };
            self.differ(text);
        }
    }

    /// Says whether the rows seen were all and right.
    pub(super) fn finish(mut self) -> Result<(), Difference> {
        for place in 0..self.seen.len() {
            if self.difference.is_some() || self.seen[place] {
                continue;
            }
            match self.fate(place) {
                [None, None] => {}
                [Some(_), None] => self.reached += 1,
                [_, Some(row)] => {
                    self.differ(format!("{} is missing", Row(&Stored::of(&row))));
                }
            }
        }
        if self.difference.is_none() && self.ended_early && self.reached != self.ops {
            let Self { ops, reached, .. } = self;
            self.differ(format!("expected {ops} rows changed in the store, found {reached}"));
        }
        self.difference.map_or(Ok(()), Err)
    }

    fn differ(&mut self, text: String) {
        self.difference = Some(Difference(text));
    }
}

/// Of two rows of the same id.
fn first_difference(expected: &Stored<'_>, got: &Stored<'_>) -> String {
    let mut pairs = expected.texts.iter().zip(&got.texts).zip(&COLUMNS[1..]);
    let different = pairs.find(|((expected, got), _)| expected != got);
    different.map_or_else(String::new, |((expected, found), column)| {
        format!("row {}, column {column}: expected {expected:?}, found {found:?}", got.id)
    })
}

struct Row<'a>(&'a Stored<'a>);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {} ({})", self.0.id, self.0.texts.join(", "))
    }
}

#[cfg(test)]
mod tests;
