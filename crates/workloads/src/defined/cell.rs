//! Everything that exists before the engine does: the rows, and which of them each operation
//! concerns.

use std::ops;
use std::sync::atomic::Ordering;

use embermark_contract::{EngineError, Result};
use embermark_language::{Asked, Commit, Definition, Span, Sql, Work};
use embermark_model::table::{ColumnType, OwnedValue, Value};
use smallvec::SmallVec;

use super::kind::{keys_of, rows_at_once};
use super::operation_keys::{DrawnKey, OperationKeys};
use super::table_rows::{Values, text_bytes};
use super::update_values::UpdateValues;
use super::{Arena, Found, Rows, row};

/// A cell of a workload file.
pub(super) struct Cell {
    /// The file's definition.
    pub definition: &'static Definition,
    /// The rows of its tables, in the file's order.
    pub tables: Vec<Rows>,
    /// Keys drawn for each phase, in the file's order.
    pub operation_keys: Vec<OperationKeys>,
    /// What a commit covers, if the variant sets it for all phases.
    pub commit: Option<Commit>,
    /// Values that updates write.
    pub update_values: UpdateValues,
    /// Columns that each phase sets if it updates rows by conditions.
    pub set_at_once: Vec<Vec<usize>>,
    /// Number of rows that meet the conditions of each phase whose operations are counted by rows.
    pub met: Vec<u64>,
    /// Values of a column that each phase asks about, if it asks about one after another.
    pub each: Vec<Vec<OwnedValue>>,
    /// The engine's id, for texts written for one engine.
    pub engine: String,
    /// Whether the engine only adds rows.
    pub appends_only: bool,
}

/// Operation `i` of a phase, with the phase's work and table.
#[derive(Clone, Copy)]
pub(super) struct Op {
    pub phase: usize,
    pub i: usize,
    pub work: &'static Work,
    /// 0 for work without a table.
    pub table: usize,
}

impl Op {
    #[inline]
    pub(super) fn new(cell: &Cell, phase: usize, i: usize) -> Self {
        let work = cell.work(phase);
        Self { phase, i, work, table: work.table().unwrap_or_default() }
    }
}

impl Cell {
    /// Forgets what mixes have inserted.
    pub(super) fn begin(&self) {
        self.tables.iter().for_each(|rows| rows.begin(rows.loaded));
    }

    /// Returns a name that no table of the file has: this name, or this name with underscores
    /// appended.
    pub(super) fn free_name(&self, name: &str) -> String {
        let mut free = name.to_owned();
        while self.tables.iter().any(|rows| rows.table.name.eq_ignore_ascii_case(&free)) {
            free.push('_');
        }
        free
    }

    /// Returns the bytes of the longest text or byte string that updates by conditions set in a
    /// column.
    pub(super) fn longest_set(&self, table: usize, column: usize) -> usize {
        let works = self.definition.phases.iter().map(|phase| &phase.work);
        let set = works.filter_map(|work| match work {
            Work::UpdateWhere { table: of, set, .. } if *of == table => Some(set),
            _ => None,
        });
        let of_column = set.flatten().filter(|(of, _)| *of == column);
        let lengths = of_column.map(|(_, value)| text_bytes(value.as_value()));
        lengths.max().unwrap_or_default()
    }

    /// Returns the column and the value that question `i` of a phase is about, if it is about one.
    #[inline]
    pub(super) fn each(&self, phase: usize, i: usize) -> Option<(usize, Value<'_>)> {
        let Asked::Each { column, .. } = self.definition.phases[phase].asked else { return None };
        let values = &self.each[phase];
        values.get(i % values.len().max(1)).map(|value| (column, value.as_value()))
    }

    /// Returns whether the answers of a phase's questions add up, because each is about another
    /// value of a column.
    pub(super) fn adds_up(&self, phase: usize) -> bool {
        matches!(self.definition.phases[phase].asked, Asked::Each { .. })
    }

    /// Returns the numbers of the different questions of a phase.
    pub(super) fn asked(&self, phase: usize) -> ops::Range<usize> {
        0..if self.adds_up(phase) { self.each[phase].len() } else { 1 }
    }

    /// Forgets what was found, unless the answers of the phase add up.
    pub(super) fn begin_question(&self, phase: usize, found: &mut Found) {
        if !self.adds_up(phase) {
            found.empty();
        }
    }

    /// Returns the work of a phase.
    pub(super) fn work(&self, phase: usize) -> &'static Work {
        &self.definition.phases[phase].work
    }

    /// Returns the insert that a phase is or begins with. Such a phase works on a new table.
    pub(super) fn insert_of(&self, phase: usize) -> Option<usize> {
        match self.work(phase) {
            Work::Insert { .. } => Some(phase),
            Work::Sequence(sequence) => sequence.insert,
            Work::Keep(keep) => Some(keep.insert),
            _ => None,
        }
    }

    /// Returns whether a phase gives an engine many rows at once.
    pub(super) fn gives_many(&self, phase: usize) -> bool {
        let batches = matches!(
            self.work(phase),
            Work::Insert { commit: Commit::Batch(_) | Commit::Behind { .. }, .. }
        );
        self.takes_fastest_path(phase) || (batches && self.commit.is_none())
    }

    /// Returns whether a phase inserts by the engine's fastest path.
    pub(super) fn takes_fastest_path(&self, phase: usize) -> bool {
        let Work::Insert { commit, .. } = self.work(phase) else { return false };
        matches!(self.commit.unwrap_or(*commit), Commit::Bulk | Commit::Csv)
    }

    /// Returns the phases that a phase consists of: the parts of a mix, the steps of a sequence, or
    /// itself.
    pub(super) fn parts_of(&self, phase: usize) -> SmallVec<[usize; 4]> {
        match self.work(phase) {
            Work::Mix(mix) => mix.parts.iter().map(|part| part.phase).collect(),
            Work::Sequence(sequence) => sequence.steps().collect(),
            Work::Keep(keep) => keep.parts().collect(),
            Work::Arrive(arrive) => SmallVec::from_elem(arrive.insert, 1),
            _ => SmallVec::from_elem(phase, 1),
        }
    }

    /// Returns the text of an SQL question for this engine.
    ///
    /// # Errors
    /// Unsupported where the file has none.
    pub(super) fn text_of(&self, sql: &'static Sql) -> Result<&'static str> {
        let text = sql.by_engine.get(&self.engine).or(sql.text.as_ref());
        text.map(String::as_str).ok_or_else(|| {
            let engine = &self.engine;
            EngineError::impossible(format!(
                "the workload file has neither `sql` nor `sql-{engine}`"
            ))
        })
    }

    /// Returns the rows of a phase's table.
    pub(super) fn rows_of(&self, phase: usize) -> &Rows {
        &self.tables[self.work(phase).table().unwrap_or_default()]
    }

    /// Returns the row that operation `i` of a phase concerns.
    #[inline]
    pub(super) fn drawn(&self, phase: usize, i: usize) -> DrawnKey {
        let rows = self.rows_of(phase);
        let newest = match self.work(phase) {
            // A mix reads rows that it inserts, and does not change them.
            Work::Get { .. } | Work::Range(_) => rows.there.load(Ordering::Relaxed),
            _ => rows.loaded,
        };
        self.operation_keys[phase].at(i, newest)
    }

    /// Returns the position of the row that operation `i` of a phase concerns, or of the row that
    /// an absent key resembles.
    #[inline]
    pub(super) fn place(&self, phase: usize, i: usize) -> usize {
        match self.drawn(phase, i) {
            DrawnKey::Row(place) => place,
            DrawnKey::Absent(number) => self.operation_keys[phase].absent(number).0,
        }
    }

    /// Returns the key of operation `i` of a phase: a row's key, or an absent one.
    #[inline]
    pub(super) fn key(&self, phase: usize, i: usize) -> Values<'_> {
        let rows = self.rows_of(phase);
        match self.drawn(phase, i) {
            DrawnKey::Row(place) => rows.key(place),
            DrawnKey::Absent(number) => {
                let (place, last) = self.operation_keys[phase].absent(number);
                let mut key = rows.key(place);
                key.pop();
                key.push(last);
                key
            }
        }
    }

    /// Returns the first and the last key of the rows that operation `i` of a phase changes at
    /// once.
    pub(super) fn ends(&self, phase: usize, i: usize) -> [Values<'_>; 2] {
        let (rows, span) = (self.rows_of(phase), self.operation_keys[phase].span(i));
        let key = |place: Option<&u32>| place.map_or_else(Values::new, |at| rows.key(*at as usize));
        [key(span.first()), key(span.last())]
    }

    /// Returns whether the keys of a phase's operations are known before it runs. They are not if
    /// it reads the newest rows while others insert.
    pub(super) fn knows_keys(&self, phase: usize) -> bool {
        let work = self.work(phase);
        let has_keys = match work {
            Work::Open { reads, .. } => *reads,
            Work::Range(range) => matches!(range.span, Span::Rows { .. }),
            _ => keys_of(work).is_some(),
        };
        has_keys && rows_at_once(work) == 1 && !self.operation_keys[phase].from_newest
    }

    /// Lays out the keys of a phase's operations, if they are known, for [`key_in`](Self::key_in).
    pub(super) fn lay_keys(&self, phase: usize, operations: ops::Range<usize>, arena: &mut Arena) {
        if !self.knows_keys(phase) {
            return;
        }
        let rows = self.rows_of(phase);
        let fixed = rows.table.key.iter().all(|column| rows.column_type(*column).width().is_some());
        let width = fixed.then(|| 8 * rows.table.key.len());
        arena.lay(phase, operations, width, |i, to| {
            for value in self.key(phase, i) {
                match value {
                    Value::Int(value) => to.extend_from_slice(&value.to_le_bytes()),
                    Value::Float(value) => to.extend_from_slice(&value.to_le_bytes()),
                    Value::Text(text) => lay_text(text.as_bytes(), to),
                    Value::Bytes(bytes) => lay_text(bytes, to),
                    Value::Null => {}
                }
            }
        });
    }

    /// Returns the key of operation `i` of a phase, from the arena if it was laid out.
    #[inline]
    pub(super) fn key_in<'a>(&'a self, arena: &'a Arena, phase: usize, i: usize) -> Values<'a> {
        let Some(keys) = arena.strings(phase) else { return self.key(phase, i) };
        let (rows, mut rest) = (self.rows_of(phase), keys.at(i));
        let value = |column: &usize| {
            let of = rows.column_type(*column);
            let (word, after) = rest.split_at(if of.width().is_some() { 8 } else { 4 });
            rest = after;
            if let ColumnType::Text | ColumnType::Bytes = of {
                let mut length = [0; 4];
                length.copy_from_slice(word);
                let (bytes, after) = rest.split_at(u32::from_le_bytes(length) as usize);
                rest = after;
                return match of {
                    ColumnType::Bytes => Value::Bytes(bytes),
                    _ => Value::Text(str::from_utf8(bytes).unwrap_or_default()),
                };
            }
            let mut bits = [0; 8];
            bits.copy_from_slice(word);
            match of {
                ColumnType::Float => Value::Float(f64::from_le_bytes(bits)),
                _ => Value::Int(i64::from_le_bytes(bits)),
            }
        };
        rows.table.key.iter().map(value).collect()
    }

    /// Returns the number of rows that operation `i` of a range by rows reads.
    #[inline]
    pub(super) fn wanted(&self, phase: usize, i: usize) -> u64 {
        self.operation_keys[phase].wanted(i)
    }

    /// Returns the value whose rows operation `i` of a range by time reads, if the range is about
    /// one value.
    #[inline]
    pub(super) fn range_value(&self, phase: usize, i: usize) -> Option<Value<'_>> {
        let Work::Range(range) = self.work(phase) else { return None };
        let (Span::Last { of, .. } | Span::From { of, .. }) = range.span else { return None };
        of.map(|of| self.tables[range.table].value(self.place(phase, i), of))
    }

    /// Returns the times that operation `i` of a range by time reads. The last one is exclusive.
    #[inline]
    pub(super) fn times(&self, phase: usize, i: usize) -> (i64, i64) {
        let Work::Range(range) = self.work(phase) else { return (0, 0) };
        let rows = &self.tables[range.table];
        match range.span {
            Span::Last { time, units, .. } => {
                // In a mix newer rows come.
                let (end, (_, last)) = (rows.end(time), rows.ends_of_all(time));
                (end - units + 1, end.max(last) + 1)
            }
            Span::From { time, units, .. } => {
                let place = self.place(phase, i);
                let from = if let Value::Int(at) = rows.value(place, time) { at } else { 0 };
                (from, from + units)
            }
            Span::Rows { .. } => (0, 0),
        }
    }

    /// Returns the whole row that operation `i` of an upsert writes.
    pub(super) fn upserted(&self, phase: usize, i: usize) -> row::Values<'_> {
        let (rows, drawn) = (self.rows_of(phase), self.drawn(phase, i));
        let (place, last) = match drawn {
            DrawnKey::Row(place) => (place, None),
            DrawnKey::Absent(number) => {
                let (place, last) = self.operation_keys[phase].absent(number);
                (place, rows.table.key.last().copied().zip(Some(last)))
            }
        };
        let set = self.set(phase, i);
        let value = |column| match last {
            Some((of, last)) if of == column => last,
            _ if set.contains(&column) => self.update_value(phase, i, column),
            _ => rows.value(place, column),
        };
        (0..rows.table.columns.len()).map(value).collect()
    }

    /// Returns the value that operation `i` of an update writes into a column of its row.
    #[inline]
    pub(super) fn update_value(&self, phase: usize, i: usize, column: usize) -> Value<'_> {
        if let Work::UpdateWhere { set, .. } = self.work(phase) {
            let value = set.iter().find(|(of, _)| *of == column);
            return value.map_or(Value::Null, |(_, value)| value.as_value());
        }
        let rows = self.rows_of(phase);
        let before = || rows.value(self.place(phase, i), column);
        self.update_values.value(phase, i, column, rows.column_type(column), before)
    }

    /// Returns the columns that operation `i` of an update sets.
    #[inline]
    pub(super) fn set(&self, phase: usize, i: usize) -> &[usize] {
        match self.work(phase) {
            Work::Update { set, .. }
            | Work::Upsert { set, .. }
            | Work::ReadModifyWrite { set, .. } => self.update_values.columns(phase, i, set),
            Work::UpdateWhere { .. } => &self.set_at_once[phase],
            _ => &[],
        }
    }
}

/// Lays out a text: its length, then its bytes.
fn lay_text(bytes: &[u8], to: &mut Vec<u8>) {
    to.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    to.extend_from_slice(bytes);
}
