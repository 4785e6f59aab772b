//! Rows in the order of a column and of time.

use embermark_data::table::compare;
use embermark_model::table::Value;

use super::super::table_rows::Rows;

/// Positions of the loaded rows in the order of a column and of time, without absent times.
pub(super) struct TimeOrder {
    of: Option<usize>,
    time: usize,
    places: Vec<u32>,
}

impl TimeOrder {
    pub(super) fn new(rows: &Rows, of: Option<usize>, time: usize) -> Self {
        let there = |place: &u32| rows.value(*place as usize, time) != Value::Null;
        let mut places: Vec<u32> = (0..rows.loaded as u32).filter(there).collect();
        let value = |place: u32, column: usize| rows.value(place as usize, column);
        places.sort_unstable_by(|a, b| {
            let of = of.map(|of| compare(&value(*a, of), &value(*b, of)));
            of.unwrap_or(std::cmp::Ordering::Equal)
                .then_with(|| compare(&value(*a, time), &value(*b, time)))
        });
        Self { of, time, places }
    }

    /// Returns the positions of the rows of a value between two times, the second exclusive.
    pub(super) fn between(
        &self,
        rows: &Rows,
        of: Option<Value<'_>>,
        from: i64,
        to: i64,
    ) -> impl Iterator<Item = usize> {
        let before = |limit: i64| {
            self.places.partition_point(|place| {
                let place = *place as usize;
                let value =
                    self.of.zip(of).map(|(column, of)| compare(&rows.value(place, column), &of));
                let time = compare(&rows.value(place, self.time), &Value::Int(limit));
                value.unwrap_or(std::cmp::Ordering::Equal).then(time).is_lt()
            })
        };
        // An absent value equals none.
        let absent = of == Some(Value::Null);
        let (from, to) = if absent { (0, 0) } else { (before(from), before(to)) };
        self.places[from..to.max(from)].iter().map(|place| *place as usize)
    }
}

/// Returns the same for a table whose key begins with the column, if there is one, and the time.
/// Nothing has to be sorted or kept.
pub(super) fn in_key_order<'a>(
    rows: &'a Rows,
    of: Option<Value<'a>>,
    from: i64,
    to: i64,
) -> impl Iterator<Item = usize> + 'a {
    let key = |time| -> Vec<Value<'a>> { of.into_iter().chain([Value::Int(time)]).collect() };
    let place = |time| {
        let (Ok(nth) | Err(nth)) = rows.staged.find(&key(time));
        nth
    };
    let places = (place(from)..place(to)).map(|nth| rows.staged.nth_by_key(nth));
    places.filter(|place| *place < rows.loaded)
}
