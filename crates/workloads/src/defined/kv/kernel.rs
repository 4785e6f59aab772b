//! Groups over columns of fixed width: rows are told apart by words, and values are loaded from where they
//! lie.

use std::collections::HashMap;

use embermark_language::{Aggregate, Group, Grouped};
use embermark_model::answer;
use embermark_model::table::Value;
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::super::access::beyond;
use super::super::aggregate::in_order;
use super::super::codec::Codec;
use super::super::codec::field::Field;
use super::super::row::owned;

/// What a group is of: a number for each column, and last the bits of those that are absent.
type Identity = SmallVec<[i64; 4]>;

/// What rows are grouped by.
struct By {
    field: Field,
    /// The length of a bucket; 0: the value itself.
    bucket: i64,
}

/// What is computed of each group.
struct Computed {
    aggregate: Aggregate,
    /// Its place among the fields; `None`: of rows.
    field: Option<usize>,
}

/// A field of which something is computed: loaded once for all of it.
struct Summed {
    field: Field,
    /// Whether a sum of it is wanted, and whether the least or the greatest is.
    sum: bool,
    extremes: bool,
}

/// What was computed of a field so far.
#[derive(Clone, Copy)]
struct Sum {
    count: i64,
    sum: f64,
    least: i64,
    greatest: i64,
}

/// Of nothing yet.
const NOTHING: Sum = Sum { count: 0, sum: 0.0, least: i64::MAX, greatest: i64::MIN };

/// Groups rows.
pub(super) struct Groups<'a> {
    group: &'a Group,
    by: SmallVec<[By; 3]>,
    computed: SmallVec<[Computed; 4]>,
    fields: SmallVec<[Summed; 2]>,
    /// What was computed of the group of the row that was added last, and how many rows it has.
    sums: SmallVec<[Sum; 2]>,
    rows: i64,
    /// That group.
    identity: Identity,
    place: usize,
    /// Of rows that come in the order of their keys and are grouped by how these begin: where the keys of the next
    /// group begin.
    run: Option<Run<'a>>,
    places: HashMap<Identity, usize, FixedState>,
    identities: Vec<Identity>,
    /// Of each group its rows, and one for each field.
    all_rows: Vec<i64>,
    all: Vec<Sum>,
}

/// A group whose rows come together.
struct Run<'a> {
    codec: &'a Codec,
    /// The length of keys.
    length: usize,
    /// Room for one.
    next: Vec<u8>,
    /// Keys from these bytes on, the first 8 and the last 8, are of another group; `None`: those of the rows to
    /// come are all of this one.
    end: Option<(u64, u64)>,
    /// Whether a group has begun.
    begun: bool,
}

/// The first and the last 8 bytes of a key of 8 to 16: they compare as it does.
#[inline]
fn ends_of(key: &[u8]) -> Option<(u64, u64)> {
    let (first, last) = (key.first_chunk()?, key.last_chunk()?);
    Some((u64::from_be_bytes(*first), u64::from_be_bytes(*last)))
}

impl<'a> Groups<'a> {
    /// `None` where a column has no fixed place in its pairs; `key` are the columns of the key where rows come in
    /// its order.
    pub(super) fn new(
        group: &'a Group,
        codec: &'a Codec,
        key: Option<&'a [usize]>,
    ) -> Option<Self> {
        let by = group.by.iter().map(|by| match *by {
            Grouped::Column(column) => Some(By { field: codec.field(column)?, bucket: 0 }),
            Grouped::Bucket { column, units } => {
                Some(By { field: codec.field(column)?, bucket: units })
            }
        });
        let by: SmallVec<[By; 3]> = by.collect::<Option<_>>()?;
        let (mut fields, mut columns) = (SmallVec::<[Summed; 2]>::new(), Vec::new());
        let mut computed = SmallVec::new();
        for compute in &group.compute {
            let Some(column) = compute.column else {
                computed.push(Computed { aggregate: compute.aggregate, field: None });
                continue;
            };
            let place = columns.iter().position(|known| *known == column).unwrap_or(columns.len());
            if place == columns.len() {
                columns.push(column);
                fields.push(Summed { field: codec.field(column)?, sum: false, extremes: false });
            }
            fields[place].sum |= matches!(compute.aggregate, Aggregate::Sum | Aggregate::Avg);
            fields[place].extremes |= matches!(compute.aggregate, Aggregate::Min | Aggregate::Max);
            computed.push(Computed { aggregate: compute.aggregate, field: Some(place) });
        }
        let identity = SmallVec::from_elem(0, by.len() + 1);
        let run = key.filter(|key| begins(group, key)).zip(codec.key_length());
        let run = run.filter(|(_, length)| (8..=16).contains(length)).map(|(_, length)| Run {
            codec,
            length,
            next: Vec::new(),
            end: None,
            begun: false,
        });
        let mut new = Self {
            group,
            by,
            sums: SmallVec::from_elem(NOTHING, fields.len()),
            rows: 0,
            fields,
            computed,
            identity,
            place: usize::MAX,
            run,
            places: HashMap::default(),
            identities: Vec::new(),
            all_rows: Vec::new(),
            all: Vec::new(),
        };
        if new.by.is_empty() {
            // Of no rows at all one group is left.
            new.go_on();
        }
        Some(new)
    }

    /// Adds a row.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        let same = match &self.run {
            Some(run) => {
                run.begun && run.end.is_none_or(|end| ends_of(key).is_some_and(|of| of < end))
            }
            None => false,
        };
        if !same {
            self.identify(key, value);
        }
        self.rows += 1;
        for (summed, sum) in self.fields.iter().zip(&mut self.sums) {
            if summed.extremes {
                let Some(value) = summed.field.ordered(key, value) else { continue };
                sum.least = sum.least.min(value);
                sum.greatest = sum.greatest.max(value);
                if summed.sum {
                    sum.sum += summed.field.number_of(value);
                }
            } else {
                let Some(number) = summed.field.number(key, value) else { continue };
                sum.sum += number;
            }
            sum.count += 1;
        }
    }

    /// Looks which group a row is of, and goes to it.
    #[inline(never)]
    fn identify(&mut self, key: &[u8], value: &[u8]) {
        let (mut same, mut absent) = (self.place != usize::MAX, 0);
        for (place, (by, before)) in self.by.iter().zip(&mut self.identity).enumerate() {
            let word = match by.field.ordered(key, value) {
                None => {
                    absent |= 1 << place;
                    0
                }
                Some(value) if by.bucket == 0 => value,
                // A division takes as long as all the rest.
                Some(value)
                    if value
                        .checked_sub(*before)
                        .is_some_and(|at| (0..by.bucket).contains(&at)) =>
                {
                    *before
                }
                Some(value) => value - value.rem_euclid(by.bucket),
            };
            same &= word == *before;
            *before = word;
        }
        if let Some(before) = self.identity.last_mut() {
            same &= absent == *before;
            *before = absent;
        }
        if !same {
            self.go_on();
        }
        if let Some(run) = &mut self.run {
            run.begun = true;
            run.end = run.end_of(&self.by, &self.identity);
        }
    }

    /// Puts away what was computed of a group, and goes on with that of the row's, which may be a new one.
    fn go_on(&mut self) {
        let fields = self.fields.len();
        self.put_away();
        let new = self.identities.len();
        self.place = *self.places.entry(self.identity.clone()).or_insert(new);
        if self.place == new {
            self.identities.push(self.identity.clone());
            self.all_rows.push(0);
            self.all.resize(self.all.len() + fields, NOTHING);
        }
        let from = self.place * fields;
        self.sums.copy_from_slice(&self.all[from..from + fields]);
        self.rows = self.all_rows[self.place];
    }

    fn put_away(&mut self) {
        if let Some(rows) = self.all_rows.get_mut(self.place) {
            *rows = self.rows;
            let from = self.place * self.sums.len();
            self.all[from..from + self.sums.len()].copy_from_slice(&self.sums);
        }
    }

    /// The result, row after row.
    pub(super) fn result(mut self, to: &mut Vec<answer::Value>) {
        self.put_away();
        let Self { group, by, computed, fields, identities, all_rows, all, .. } = self;
        let rows = identities.iter().zip(&all_rows).enumerate().map(|(n, (identity, rows))| {
            let absent = identity.last().copied().unwrap_or_default();
            let of = by.iter().zip(identity).enumerate().map(|(place, (by, word))| {
                let is_there = absent >> place & 1 == 0;
                owned(if is_there { by.field.value(*word) } else { Value::Null })
            });
            let computed = computed.iter().map(|computed| match computed.field {
                Some(at) => all[n * fields.len() + at].value(computed.aggregate, &fields[at].field),
                None => answer::Value::Int(*rows),
            });
            of.chain(computed).collect()
        });
        in_order(rows.collect(), group, to);
    }
}

/// Whether rows are grouped by how their keys begin: by columns of the key from the first on, the last of which may
/// be in buckets.
fn begins(group: &Group, key: &[usize]) -> bool {
    let columns = group.by.iter().map(|by| match *by {
        Grouped::Column(column) => (column, false),
        Grouped::Bucket { column, .. } => (column, true),
    });
    let all = group.by.len();
    all <= key.len()
        && columns
            .zip(key)
            .enumerate()
            .all(|(n, ((column, bucket), of_key))| column == *of_key && (!bucket || n + 1 == all))
}

impl Run<'_> {
    /// Returns the first key of the next group; `None` if every later row belongs to this one.
    fn end_of(&mut self, by: &[By], identity: &[i64]) -> Option<(u64, u64)> {
        let Self { codec, length, next, .. } = self;
        let values = by.iter().zip(identity).map(|(by, word)| {
            // The next bucket begins where this one ends.
            by.field.value(word.saturating_add(by.bucket))
        });
        codec.key(values, next);
        if by.last().is_none_or(|by| by.bucket == 0) && !beyond(next) {
            return None;
        }
        next.resize(*length, 0);
        ends_of(next)
    }
}

impl Sum {
    fn value(&self, aggregate: Aggregate, of: &Field) -> answer::Value {
        match aggregate {
            Aggregate::Count => answer::Value::Int(self.count),
            _ if self.count == 0 => answer::Value::Null,
            Aggregate::Sum => answer::Value::Float(self.sum),
            Aggregate::Avg => answer::Value::Float(self.sum / self.count as f64),
            Aggregate::Min => owned(of.value(self.least)),
            Aggregate::Max => owned(of.value(self.greatest)),
        }
    }
}
