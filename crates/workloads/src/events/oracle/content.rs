//! The whole store read back and compared, event by event.

use embermark_data::events::Event;
use embermark_model::answer::{Difference, close};

use super::super::port::Stored;

/// Compares events that arrive in any order with those that must be there, and keeps the first
/// difference.
pub(in super::super) struct Content<'a> {
    /// In the order of their ids, which count from 1.
    expected: Vec<&'a Event>,
    seen: Vec<bool>,
    difference: Option<Difference>,
}

impl<'a> Content<'a> {
    /// Of events that were given ids in this order.
    pub(in super::super) fn new(expected: Vec<&'a Event>) -> Self {
        Self { seen: vec![false; expected.len()], expected, difference: None }
    }

    /// Takes an event of the store.
    pub(in super::super) fn see(&mut self, got: &Stored<'_>) {
        if self.difference.is_some() {
            return;
        }
        let place = usize::try_from(got.id - 1).unwrap_or(usize::MAX);
        let Some(event) = self.expected.get(place) else {
            return self.differ(format!("{got:?} should not be in the store"));
        };
        let expected = Stored { id: got.id, ..Stored::of(event) };
        if !same(&expected, got) {
            return self.differ(format!("found {got:?}, expected {expected:?}"));
        }
        if std::mem::replace(&mut self.seen[place], true) {
            self.differ(format!("event {} is in the store twice", got.id));
        }
    }

    /// Says whether the events seen were all.
    pub(in super::super) fn finish(mut self) -> Result<(), Difference> {
        if self.difference.is_none()
            && let Some(place) = self.seen.iter().position(|seen| !seen)
        {
            self.differ(format!("event {} is missing from the store", place + 1));
        }
        self.difference.map_or(Ok(()), Err)
    }

    fn differ(&mut self, text: String) {
        self.difference = Some(Difference(text));
    }
}

/// Floats may have been written as text and read again.
fn same(expected: &Stored<'_>, got: &Stored<'_>) -> bool {
    let near = |pair: (&Option<f64>, &Option<f64>)| match pair {
        (Some(a), Some(b)) => close(*a, *b),
        (a, b) => a == b,
    };
    let exact = |of: &Stored<'_>| (of.id, of.timestamp);
    exact(expected) == exact(got)
        && expected.bucket == got.bucket
        && expected.texts == got.texts
        && expected.numbers.iter().zip(&got.numbers).all(near)
}
