//! Generates rows from a seed. Each value depends on the seed, the names of the table and the
//! column, and the number of the row. A value of a `walk` also depends on the earlier ones. The rows
//! are the same on every machine: floats are only added, multiplied and rounded, and powers are
//! those of [`crate::zipf`].

mod text;
mod walk;

use embermark_model::table::{Column, ColumnType, MakeKind, OwnedValue, RowsFrom, Table, Value};

use self::walk::Walk;
use crate::DataError;
use crate::draw::{Draw, HitSampler};
use crate::zipf::{Zipf, fnv1a};

/// Generates the values of a column.
#[derive(Debug)]
pub(super) struct ColumnGenerator<'a> {
    source: Source<'a>,
    absent: f64,
    /// A value that a share of the rows has, and the random choice of those rows.
    often: Option<(Value<'a>, HitSampler, Draw)>,
    /// Seed of its values, and seed of the choice of absent ones.
    seeds: [u64; 2],
    text: Vec<u8>,
    bytes: bool,
}

/// Source of a column's values: [`MakeKind`] with what is computed once.
#[derive(Debug)]
enum Source<'a> {
    Sequence { from: i64, step: i64, repeat: u64 },
    Cycle { from: i64, distinct: u64 },
    // A count of 0 means 2^64.
    Ints { from: i64, count: u64 },
    Floats { from: f64, to: f64 },
    Random { from: u64, to: u64 },
    Words(Zipf),
    // The prefix.
    Hashed(&'a str),
    Uuid,
    // The walk, and whether its values are whole numbers.
    Walk(Walk, bool),
    // Values, and the cumulative sums of the weights.
    Choice(&'a [OwnedValue], Vec<f64>),
    // The generator of the key in another table, and the choice of its rows.
    Reference(Box<ColumnGenerator<'a>>, Zipf),
}

/// Makes the generators of a table's columns.
///
/// # Errors
/// [`DataError::Unmakeable`] if a column has no `make`, or its type cannot hold the values.
pub(super) fn generators<'a>(
    tables: &'a [Table],
    table: usize,
    rows: u64,
    seed: u64,
) -> Result<Vec<ColumnGenerator<'a>>, DataError> {
    let table = &tables[table];
    let generator = |column: &'a Column| {
        let unmakeable = |why| DataError::Unmakeable {
            table: table.name.clone(),
            column: column.name.clone(),
            why,
        };
        ColumnGenerator::new(tables, table, column, rows, seed).map_err(unmakeable)
    };
    table.columns.iter().map(generator).collect()
}

impl<'a> ColumnGenerator<'a> {
    fn new(
        tables: &'a [Table],
        table: &'a Table,
        column: &'a Column,
        rows: u64,
        seed: u64,
    ) -> Result<Self, &'static str> {
        let make = column.make.as_ref().ok_or("it has no 'make'")?;
        let source = source(tables, column.of, &make.kind, seed)?;
        let names = format!("{}\0{}\0", table.name, column.name);
        let [values, absences, choices] = ["value", "absent", "often"]
            .map(|what| seed ^ fnv1a(format!("{names}{what}").as_bytes()));
        let often = make.often.as_ref().map(|(value, share)| {
            let hits = (rows as f64 * share) as u64;
            (value.as_value(), HitSampler { hits, draws: rows }, Draw::new(choices, 0))
        });
        let bytes = column.of == ColumnType::Bytes;
        let (absent, seeds) = (make.absent, [values, absences]);
        Ok(Self { source, absent, often, seeds, text: Vec::new(), bytes })
    }

    /// Returns the value in a row. Rows must be requested in order, from the first, because walks
    /// and the choice of rows with the frequent value depend on it.
    #[inline]
    pub(super) fn value(&mut self, row: u64) -> Value<'_> {
        let [values, absences] = self.seeds;
        let absent = self.absent > 0.0 && Draw::new(absences, row).unit() < self.absent;
        let draw = || Draw::new(values, row);
        if let Some((value, sampler, draw)) = &mut self.often
            && sampler.next(draw)
        {
            return if absent { Value::Null } else { *value };
        }
        let value = match self.source {
            Source::Sequence { from, step, repeat } => {
                let steps = (row / repeat) as i64;
                Value::Int(from.wrapping_add(step.wrapping_mul(steps)))
            }
            Source::Cycle { from, distinct } => {
                Value::Int(from.wrapping_add((row % distinct) as i64))
            }
            Source::Ints { from, count } => {
                let above = match count {
                    0 => draw().bits(),
                    count => draw().below(count as usize) as u64,
                };
                Value::Int(from.wrapping_add(above as i64))
            }
            Source::Floats { from, to } => {
                let value = from + draw().unit() * (to - from);
                // Rounding may reach the excluded end.
                Value::Float(if value < to { value } else { from })
            }
            Source::Random { from, to } => {
                text::random(&mut draw(), from, to, !self.bytes, &mut self.text);
                return text_value(&self.text, self.bytes, absent);
            }
            Source::Words(ref words) => {
                text::word(words.draw(&mut draw()), &mut self.text);
                return text_value(&self.text, self.bytes, absent);
            }
            Source::Hashed(prefix) => {
                text::hashed(prefix, row, &mut self.text);
                return text_value(&self.text, self.bytes, absent);
            }
            Source::Uuid => {
                text::uuid(&mut draw(), &mut self.text);
                return text_value(&self.text, self.bytes, absent);
            }
            Source::Walk(ref mut walk, whole) => match (walk.next(&mut draw()), whole) {
                (at, true) => Value::Int(at.round() as i64),
                (at, false) => Value::Float(at),
            },
            Source::Choice(values, ref cumulative) => {
                let all = cumulative.last().copied().unwrap_or(0.0);
                let at = draw().unit() * all;
                let chosen = cumulative
                    .partition_point(|&cumulative| cumulative <= at)
                    .min(values.len() - 1);
                values[chosen].as_value()
            }
            Source::Reference(ref mut of, ref rows) => of.value(rows.draw(&mut draw())),
        };
        if absent { Value::Null } else { value }
    }
}

fn text_value(text: &[u8], bytes: bool, absent: bool) -> Value<'_> {
    match str::from_utf8(text) {
        _ if absent => Value::Null,
        Ok(text) if !bytes => Value::Text(text),
        _ => Value::Bytes(text),
    }
}

/// Returns the source of a column's values. The error is why its type and its `make` do not match.
fn source<'a>(
    tables: &'a [Table],
    of: ColumnType,
    kind: &'a MakeKind,
    seed: u64,
) -> Result<Source<'a>, &'static str> {
    let integer = !matches!(of, ColumnType::Float | ColumnType::Text | ColumnType::Bytes);
    let text = matches!(of, ColumnType::Text | ColumnType::Bytes);
    let (fits, why) = match kind {
        MakeKind::Sequence { .. } | MakeKind::Cycle { .. } | MakeKind::RandomInt { .. } => {
            (integer, "its 'make' gives integers, which its type is not")
        }
        MakeKind::RandomFloat { .. } => (
            of == ColumnType::Float,
            "its 'make' gives numbers with a fraction, which its type is not",
        ),
        MakeKind::Walk { .. } => (!text, "its 'make' gives numbers, which its type is not"),
        MakeKind::Choice { values, .. } => (!values.is_empty(), "there is nothing to choose from"),
        MakeKind::Reference { .. } => (true, ""),
        _ => (text, "its 'make' gives texts, which its type is not"),
    };
    if !fits {
        return Err(why);
    }
    Ok(match kind {
        &MakeKind::Sequence { from, step, repeat } => {
            Source::Sequence { from, step, repeat: repeat.max(1) }
        }
        &MakeKind::Cycle { from, distinct } => Source::Cycle { from, distinct: distinct.max(1) },
        &MakeKind::RandomInt { from, to } => {
            Source::Ints { from, count: to.wrapping_sub(from).wrapping_add(1) as u64 }
        }
        &MakeKind::RandomFloat { from, to } => Source::Floats { from, to },
        &MakeKind::Random { from, to } => Source::Random { from, to: to.max(from) },
        &MakeKind::Words { distinct, skew } => Source::Words(Zipf::new(distinct, skew)),
        MakeKind::Hashed { prefix } => Source::Hashed(prefix),
        MakeKind::Uuid => Source::Uuid,
        &MakeKind::Walk { from, step, lowest, highest } => {
            Source::Walk(Walk::new(from, step, lowest, highest), integer)
        }
        MakeKind::Choice { values, weights } => {
            let weight = |at: usize| weights.get(at).copied().unwrap_or(1.0);
            let sums = (0..values.len()).scan(0.0, |sum, at| {
                *sum += weight(at);
                Some(*sum)
            });
            Source::Choice(values, sums.collect())
        }
        &MakeKind::Reference { table, skew } => {
            let table = tables.get(table).ok_or("it refers to an unknown table")?;
            let (RowsFrom::Made(rows), &[key]) = (&table.rows, &table.key[..]) else {
                return Err(
                    "it refers to a table that is not generated or has no single-column key",
                );
            };
            let column = &table.columns[key];
            match column.make.as_ref().map(|make| &make.kind) {
                Some(MakeKind::Reference { .. } | MakeKind::Walk { .. }) => {
                    return Err("it refers to a key that is a walk or a reference");
                }
                _ if column.of != of => {
                    return Err("it refers to a key of another type");
                }
                _ => {}
            }
            let generator = ColumnGenerator::new(tables, table, column, *rows, seed)?;
            Source::Reference(Box::new(generator), Zipf::new(*rows, skew))
        }
    })
}
