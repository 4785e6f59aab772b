//! Examines rows as a run reads them: columns, keys, and unusual content.

use std::collections::HashSet;
use std::path::Path;

use embermark_model::table::{Column, ColumnType, Field, Keep, RowsFrom, Table, Value};

use super::{EXAMPLES, Inferred, InferredColumn, MAX_DUPLICATE_SHARE, NearKey, format_count, keys};
use crate::DataError;
use crate::mapping::Paging;
use crate::table::source::Source;
use crate::table::stage::stage;
use crate::table::{StagedTable, compare};
use crate::zipf::fnv1a;

/// Stages the rows as a run reads them, and examines them.
pub(super) fn examine(
    source: &Source,
    mut table: Table,
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
    let has_zone = from.zone.is_some();
    if let Some(place) = time.filter(|_| !has_zone) {
        notes.extend(clocks_put_back(&rows, place, &columns[place]));
    }
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

/// Notes that columns are unique together except in a few rows, or proposes them as the key if
/// these are few enough.
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

/// Notes a time that ascends but sometimes goes back by an hour, like local clocks in autumn.
fn clocks_put_back(rows: &StagedTable, place: usize, column: &InferredColumn) -> Option<String> {
    const HOUR: i64 = 3_600;
    let ColumnType::Timestamp(unit) = column.of else { return None };
    let (mut back, mut hours, mut last) = (0, 0, None);
    for row in rows.each_row() {
        let Value::Int(time) = rows.value(row, place) else { continue };
        let step = last.map_or(0, |last: i64| (time - last).div_euclid(unit.per_second()));
        back += u64::from(step < 0);
        hours += u64::from((-HOUR..-HOUR / 2).contains(&step));
        last = Some(time);
    }
    let name = &column.name;
    (hours > 0 && hours == back && hours <= 50).then(|| {
        format!(
            "{name} goes back by an hour {}, as local time does in autumn: name its zone, for example \
             --zone Europe/Berlin",
            if hours == 1 { "once".to_owned() } else { format_count(hours, "time") }
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
        least: least.to_owned(),
        greatest: greatest.to_owned(),
        distinct: hashes.len().min(COUNTED) as u64,
        exact: hashes.len() <= COUNTED,
        examples: examples.into_iter().map(Value::to_owned).collect(),
        ascending,
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
