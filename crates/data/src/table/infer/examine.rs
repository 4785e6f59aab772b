//! Examines rows as a run reads them: columns, keys, and unusual content.

use std::collections::HashSet;
use std::path::Path;

use embermark_model::table::{Column, ColumnType, Field, Keep, RowsFrom, Table, Value};

use super::{EXAMPLES, Inferred, InferredColumn, MAX_DUPLICATE_SHARE, NearKey, format_count, keys};
use crate::DataError;
use crate::mapping::Paging;
use crate::table::source::Source;
use crate::table::stage::stage;
use crate::table::time::clock_of;
use crate::table::{StagedTable, compare};
use crate::zipf::fnv1a;

/// Stages the rows as a run reads them, and examines them. `local` is by column whether its times
/// may be local ones.
pub(super) fn examine(
    source: &Source,
    mut table: Table,
    local: &[bool],
    base: &Path,
    folder: &Path,
    format: String,
    mut notes: Vec<String>,
) -> Result<Inferred, DataError> {
    let to = folder.join("rows");
    let staged = stage(std::slice::from_ref(&table), 0, base, None, 0, 1.0, &to)?;
    notes.extend(keep_needed_words(&mut table.columns, &staged.kept));
    let rows = StagedTable::map(&to, Paging::Sequential)?;
    if rows.rows() == 0 {
        return Err(source.not_tabular("none of its rows matches the inferred columns"));
    }
    require_present(&mut table.columns, &rows);
    let mut columns: Vec<InferredColumn> =
        table.columns.iter().enumerate().map(|(at, column)| column_of(&rows, at, column)).collect();
    let time = keys::time(&columns);
    let found = keys::find(&rows, &columns, time, folder);
    let (keys, near) = found.map_err(DataError::unwritable(&std::env::temp_dir()))?;
    for &key in keys.iter().filter_map(|key| <&[usize; 1]>::try_from(&key[..]).ok()).flatten() {
        (columns[key].distinct, columns[key].exact) = (staged.rows, true);
    }
    let remarks = staged.remarks.iter();
    notes.extend(remarks.map(|(what, count)| format!("{}: {what}", format_count(*count, "time"))));
    let RowsFrom::File(from) = &mut table.rows else {
        return Err(source.not_tabular("its rows are generated"));
    };
    let mut inferred = Inferred {
        from: (**from).clone(),
        format,
        rows: staged.rows,
        dropped: staged.dropped,
        columns,
        keys,
        near_key: None,
        time,
        schema: None,
        notes,
        states: source.states.clone(),
    };
    inferred.take_time_of_key();
    let time = inferred.time.filter(|at| inferred.from.zone.is_none() && local[*at]);
    let note = time.and_then(|at| clocks_put_back(&rows, at, &inferred.columns[at]));
    inferred.notes.extend(note);
    if let Some((key, repeats)) = near {
        drop(rows);
        propose_near_key(&mut inferred, &table, key, repeats as u64, base, &to)?;
    }
    Ok(inferred)
}

/// Removes a column's own words for missing values where those of the table do the same. Returns a
/// note for each other column, which has values that mean a missing value in another.
fn keep_needed_words(columns: &mut [Column], kept: &[u64]) -> Vec<String> {
    let mut notes = Vec::new();
    for (column, kept) in columns.iter_mut().zip(kept) {
        let Some(from) = &mut column.from else { continue };
        if *kept == 0 {
            from.absent = None;
        } else if from.absent.is_some() {
            let count = format_count(*kept, "value");
            notes.push(format!(
                "{}: {count} would mean a missing value in another column, and are kept here",
                column.name
            ));
        }
        if **from == Field::default() {
            column.from = None;
        }
    }
    notes
}

/// Declares columns as never absent if only rows that are not used lack a value there: a line of
/// units below the names should not keep a column from being part of a key.
fn require_present(columns: &mut [Column], rows: &StagedTable) {
    for (at, column) in columns.iter_mut().enumerate() {
        if !column.nullable || rows.present(at) < rows.rows() as u64 {
            continue;
        }
        column.nullable = false;
        let Some(from) = &mut column.from else { continue };
        from.absent = None;
        if **from == Field::default() {
            column.from = None;
        }
    }
}

/// Notes that columns are unique together except in a few rows, or proposes them as the key if
/// these are few enough. With it as the key local times are read by series, which may leave none.
fn propose_near_key(
    inferred: &mut Inferred,
    table: &Table,
    key: Vec<usize>,
    rows: u64,
    base: &Path,
    to: &Path,
) -> Result<(), DataError> {
    let mut table = Table { key: key.clone(), ..table.clone() };
    if let RowsFrom::File(from) = &mut table.rows {
        from.keep = Keep::Last;
    }
    let Some(first) = stage(&[table], 0, base, None, 0, 1.0, to)?.first_duplicates else {
        inferred.keys.push(key);
        return Ok(());
    };
    if rows as f64 <= MAX_DUPLICATE_SHARE * inferred.rows as f64 {
        inferred.from.keep = Keep::Last;
        inferred.keys.push(key.clone());
        inferred.near_key = Some(NearKey { key, rows, first });
        return Ok(());
    }
    let names: Vec<_> = key.iter().map(|at| &*inferred.columns[*at].name).collect();
    inferred.notes.push(format!(
        "{} would be a key but for {}, first {} and {}: with that key keep = \"last\" keeps the last row \
         of each",
        names.join(", "),
        format_count(rows, "row"),
        first.0,
        first.1
    ));
    Ok(())
}

/// Notes a time that goes one way but back by an hour in a night once a year, as local clocks do in
/// autumn. The rows may also go from the newest to the oldest.
fn clocks_put_back(rows: &StagedTable, place: usize, column: &InferredColumn) -> Option<String> {
    const HOUR: i64 = 3_600;
    const YEAR: i64 = 300 * 24 * HOUR;
    let ColumnType::Timestamp(unit) = column.of else { return None };
    let value = |row: usize| match rows.value(row, place) {
        Value::Int(time) => Some(time.div_euclid(unit.per_second())),
        _ => None,
    };
    let way = if value(0) <= value(rows.rows() - 1) { 1 } else { -1 };
    let (mut last, mut usual, mut hours) = (None, 0, Vec::new());
    for time in rows.each_row().filter_map(value) {
        let step = way * (time - last.unwrap_or(time));
        // Rows every hour have an hour twice, and go back by nothing.
        let is_hour = (-HOUR..=-HOUR / 2).contains(&step) || step <= 0 && step + HOUR == usual;
        if is_hour && hours.last().is_none_or(|other: &i64| (time - other).abs() > YEAR) {
            hours.push(time);
        } else if is_hour || step < 0 {
            return None;
        }
        (last, usual) = (Some(time), if step > 0 { step } else { usual });
    }
    // Autumn is in other months south of the equator.
    let is_then = |time: &i64| {
        let clock = clock_of(i128::from(*time) * 1_000_000_000);
        clock.is_some_and(|at| matches!((at.hour(), at.month()), (23 | 0..=3, 2..=5 | 9..=11)))
    };
    let often = match hours.len() {
        1 => "once".to_owned(),
        hours => format_count(hours as u64, "time"),
    };
    (!hours.is_empty() && hours.iter().all(is_then)).then(|| {
        format!(
            "{} goes back by an hour {often}, as local time does in autumn: name its zone, for example \
             --zone Europe/Berlin",
            column.name
        )
    })
}

/// Number of different values of a column that are counted.
const COUNTED: usize = 100_000;

/// Examines all values of a column.
fn column_of(rows: &StagedTable, at: usize, column: &Column) -> InferredColumn {
    let mut hashes = HashSet::new();
    let mut ascending = true;
    let mut examples: Vec<Value<'_>> = Vec::new();
    let (mut least, mut greatest, mut last) = (Value::Null, Value::Null, Value::Null);
    let values = rows.each_row().map(|row| rows.value(row, at));
    for value in values.filter(|value| *value != Value::Null) {
        if hashes.len() <= COUNTED && hashes.insert(hash(&value)) && examples.len() < EXAMPLES {
            examples.push(value);
        }
        // Null sorts before all values.
        ascending &= compare(&last, &value).is_le();
        last = value;
        if least == Value::Null || compare(&value, &least).is_lt() {
            least = value;
        }
        if compare(&value, &greatest).is_gt() {
            greatest = value;
        }
    }
    InferredColumn {
        name: column.name.clone(),
        from: column.from.as_deref().cloned(),
        of: column.of,
        nullable: column.nullable,
        absent: rows.rows() as u64 - rows.present(at),
        distinct: hashes.len().min(COUNTED) as u64,
        exact: hashes.len() <= COUNTED,
        examples: examples.into_iter().map(Value::to_owned).collect(),
        // A constant says nothing of the order of rows.
        ascending: ascending && compare(&least, &greatest).is_lt(),
        least: least.to_owned(),
        greatest: greatest.to_owned(),
    }
}

fn hash(value: &Value<'_>) -> u64 {
    match value {
        Value::Null => 0,
        Value::Int(value) => *value as u64,
        // -0.0 and 0.0 are one value.
        Value::Float(value) => (value + 0.0).to_bits(),
        Value::Text(text) => fnv1a(text.as_bytes()),
        Value::Bytes(bytes) => fnv1a(bytes),
    }
}
