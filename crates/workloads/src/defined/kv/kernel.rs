//! Groups over columns of fixed width. Groups are distinguished by words. Values are loaded from
//! their position in the pair, or read from the document that has them as fields.

use std::collections::HashMap;

use embermark_language::{Aggregate, Compute, Group, Grouped};
use embermark_model::answer;
use embermark_model::table::Value;
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::super::aggregate::in_order;
use super::super::codec::field::Field;
use super::super::row::owned;
use super::super::{Codec, month};
use super::walks::Span;

/// What rows are grouped by, and the group of the last row.
struct By {
    field: Field,
    by: Grouped,
    /// First value of the group, and the number of values in it. None before the first row.
    from: i64,
    values: u64,
    /// Whether the value is present.
    is_there: bool,
}

impl By {
    /// Returns whether a row belongs to the group.
    #[inline]
    fn has(&self, key: &[u8], value: &[u8]) -> bool {
        match self.field.ordered(key, value) {
            Some(word) => {
                let from = word.wrapping_sub(self.from).cast_unsigned();
                from < self.values && self.is_there
            }
            None => !self.is_there,
        }
    }

    /// Moves to the group of a row. Returns its first value.
    fn go_to(&mut self, key: &[u8], value: &[u8]) -> i64 {
        let word = self.field.ordered(key, value);
        self.is_there = word.is_some();
        let word = word.unwrap_or_default();
        (self.from, self.values) = match self.by {
            _ if !self.is_there => (0, 0),
            Grouped::Column(_) => (word, 1),
            Grouped::Bucket { units, .. } => {
                (word.saturating_sub(word.rem_euclid(units)), units.cast_unsigned())
            }
            Grouped::Month { unit, .. } => {
                let from = month::begin(word, unit);
                (from, month::next(from, unit).wrapping_sub(from).cast_unsigned())
            }
        };
        self.from
    }
}

/// A field that values are computed from. It is loaded once for all of them.
struct Summed {
    field: Field,
    /// Its column, if it is read from a document.
    document: Option<usize>,
    /// Whether its sum is wanted, and whether its extremes are.
    sum: bool,
    extremes: bool,
    /// What was computed so far for the group of the last row.
    of_group: Sum,
}

impl Summed {
    /// Adds the field's value in a row. The first function reads it for extremes and the second
    /// only for sums. `None` is absent.
    #[inline(always)]
    fn add(
        &mut self,
        ordered: impl FnOnce(&Field) -> Option<i64>,
        number: impl FnOnce(&Field) -> Option<f64>,
    ) {
        let Self { field, document: _, sum, extremes, of_group } = self;
        if *extremes {
            let Some(value) = ordered(field) else { return };
            of_group.least = of_group.least.min(value);
            of_group.greatest = of_group.greatest.max(value);
            if *sum {
                of_group.sum += field.number_of(value);
            }
        } else {
            let Some(number) = number(field) else { return };
            of_group.sum += number;
        }
        of_group.count += 1;
    }
}

/// What was computed from a field so far.
#[derive(Clone, Copy)]
struct Sum {
    count: i64,
    sum: f64,
    least: i64,
    greatest: i64,
}

/// The state before the first row.
const NOTHING: Sum = Sum { count: 0, sum: 0.0, least: i64::MAX, greatest: i64::MIN };

/// Groups rows.
pub(super) struct Groups<'a> {
    group: &'a Group,
    codec: &'a Codec,
    by: Vec<By>,
    /// Adds most rows, where every field is plain.
    span: Option<Span>,
    /// By computed value: the index of its field. `None`: it counts rows.
    computed: SmallVec<[Option<usize>; 4]>,
    fields: Vec<Summed>,
    /// Number of rows of the last row's group, and the group's index.
    rows: i64,
    place: usize,
    /// Indexes of groups whose rows are not adjacent, by one number for each column and then the
    /// bits of absent ones.
    places: Option<HashMap<SmallVec<[i64; 4]>, usize, FixedState>>,
    /// These numbers of each group.
    identities: Vec<i64>,
    /// Number of rows of each group, and what was computed from each field.
    all_rows: Vec<i64>,
    all: Vec<Sum>,
}

impl<'a> Groups<'a> {
    /// Returns `None` where a column has no fixed position in its pairs. `key` are the columns of
    /// the key, if rows come in key order.
    pub(super) fn new(group: &'a Group, codec: &'a Codec, key: Option<&[usize]>) -> Option<Self> {
        let by = group.by.iter().map(|by| {
            let field = codec.field(by.column())?;
            Some(By { field, by: *by, from: 0, values: 0, is_there: true })
        });
        let by: Vec<By> = by.collect::<Option<_>>()?;
        let (mut fields, mut columns) = (Vec::<Summed>::new(), Vec::new());
        let mut computed = SmallVec::new();
        for compute in &group.compute {
            let Some(column) = compute.column else {
                computed.push(None);
                continue;
            };
            let place = columns.iter().position(|known| *known == column).unwrap_or(columns.len());
            if place == columns.len() {
                columns.push(column);
                let field = codec.field(column);
                let document = field.is_none().then_some(column);
                fields.push(Summed {
                    field: field.or_else(|| codec.field_of_document(column))?,
                    document,
                    sum: false,
                    extremes: false,
                    of_group: NOTHING,
                });
            }
            fields[place].sum |= matches!(compute.aggregate, Aggregate::Sum | Aggregate::Avg);
            fields[place].extremes |= matches!(compute.aggregate, Aggregate::Min | Aggregate::Max);
            computed.push(Some(place));
        }
        let together = key.is_some_and(|key| begins(group, key));
        let is_plain = fields.iter().all(|summed| summed.field.plain);
        let span = if together && is_plain { span(group, codec) } else { None };
        let mut new = Self {
            group,
            codec,
            by,
            span,
            fields,
            computed,
            rows: 0,
            place: usize::MAX,
            places: (!together).then(HashMap::default),
            identities: Vec::new(),
            all_rows: Vec::new(),
            all: Vec::new(),
        };
        if new.by.is_empty() {
            // Without rows there is one group.
            new.go_on(&[], &[]);
        }
        Some(new)
    }

    /// Adds a row.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        if !self.span.as_ref().is_some_and(|span| span.has(key)) {
            return self.add_any(key, value);
        }
        self.rows += 1;
        for summed in &mut self.fields {
            summed.add(|field| field.plain(value), |field| field.plain_number(value));
        }
    }

    /// Adds a row of any group, with fields of any kind.
    #[inline(never)]
    fn add_any(&mut self, key: &[u8], value: &[u8]) {
        if !self.by.iter().all(|by| by.has(key, value)) {
            self.go_on(key, value);
        }
        self.rows += 1;
        for summed in &mut self.fields {
            let Some(column) = summed.document else {
                summed.add(|field| field.ordered(key, value), |field| field.number(key, value));
                continue;
            };
            let read = self.codec.column(key, value, column).unwrap_or(Value::Null);
            let ordered = |field: &Field| field.ordered_of(read);
            summed.add(ordered, |field| ordered(field).map(|ordered| field.number_of(ordered)));
        }
    }

    /// Stores the last group, and continues with the group of a row, which can be new.
    #[inline(never)]
    fn go_on(&mut self, key: &[u8], value: &[u8]) {
        self.put_away();
        let (begin, new) = (self.identities.len(), self.all_rows.len());
        let mut absent = 0;
        for (n, by) in self.by.iter_mut().enumerate() {
            self.identities.push(by.go_to(key, value));
            absent |= i64::from(!by.is_there) << n;
        }
        self.identities.push(absent);
        if let Some(span) = &mut self.span {
            let buckets = self.by.last().filter(|by| in_buckets(by.by));
            span.go_to(key, buckets.map(|by| (by.field.in_key(by.from), by.values)));
        }
        self.place = match &mut self.places {
            Some(places) => *places.entry(self.identities[begin..].into()).or_insert(new),
            None => new,
        };
        if self.place == new {
            self.rows = 0;
            self.fields.iter_mut().for_each(|field| field.of_group = NOTHING);
            self.all_rows.push(0);
            self.all.resize(self.all.len() + self.fields.len(), NOTHING);
            return;
        }
        self.identities.truncate(begin);
        self.rows = self.all_rows[self.place];
        let known = &self.all[self.place * self.fields.len()..];
        self.fields.iter_mut().zip(known).for_each(|(field, sum)| field.of_group = *sum);
    }

    fn put_away(&mut self) {
        if let Some(rows) = self.all_rows.get_mut(self.place) {
            *rows = self.rows;
            let known = &mut self.all[self.place * self.fields.len()..];
            self.fields.iter().zip(known).for_each(|(field, sum)| *sum = field.of_group);
        }
    }

    /// Writes the result, row by row.
    pub(super) fn result(mut self, to: &mut Vec<answer::Value>) {
        self.put_away();
        let Self { group, by, computed, fields, identities, all_rows, all, .. } = self;
        let numbers = identities.chunks_exact(by.len() + 1).zip(&all_rows).enumerate();
        let rows = numbers.map(|(n, (identity, rows))| {
            let absent = identity.last().copied().unwrap_or_default();
            let of = by.iter().zip(identity).enumerate().map(move |(place, (by, word))| {
                let is_there = absent >> place & 1 == 0;
                owned(if is_there { by.field.value(*word) } else { Value::Null })
            });
            let (all, fields) = (&all, &fields);
            let computed = computed.iter().zip(&group.compute);
            let computed = computed.map(move |(place, Compute { aggregate, .. })| match *place {
                Some(at) => all[n * fields.len() + at].value(*aggregate, &fields[at].field),
                None => answer::Value::Int(*rows),
            });
            of.chain(computed)
        });
        if group.having.is_empty() && group.order.is_empty() && group.limit.is_none() {
            to.reserve(all_rows.len() * (by.len() + computed.len()));
            to.extend(rows.flatten());
        } else {
            in_order(rows.map(Iterator::collect).collect(), group, to);
        }
    }
}

/// Returns the span of a group's keys, if rows are grouped by a prefix of their keys.
fn span(group: &Group, codec: &Codec) -> Option<Span> {
    match group.by.split_last() {
        Some((last, plain)) if in_buckets(*last) => Span::new(codec, plain.len(), true),
        _ => Span::new(codec, group.by.len(), false),
    }
}

/// Returns whether several values form one group.
const fn in_buckets(by: Grouped) -> bool {
    !matches!(by, Grouped::Column(_))
}

/// Returns whether rows are grouped by a prefix of their keys: columns of the key from the first
/// on, the last of which can be in buckets.
fn begins(group: &Group, key: &[usize]) -> bool {
    let (all, mut columns) = (group.by.len(), group.by.iter().zip(key).enumerate());
    let is_next = |(n, (by, of_key)): (usize, (&Grouped, &usize))| {
        by.column() == *of_key && (!in_buckets(*by) || n + 1 == all)
    };
    all <= key.len() && columns.all(is_next)
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
