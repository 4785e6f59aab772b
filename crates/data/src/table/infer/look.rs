//! Rows as a run will read them, looked at: columns, keys, and what is odd.

use std::path::Path;

use embermark_model::table::{Column, ColumnType, Keep, RowsFrom, Table, Value};

use super::distinct::Distinct;
use super::{EXAMPLES, Inferred, InferredColumn, NEARLY, Nearly, counted, keys};
use crate::DataError;
use crate::table::source::Source;
use crate::table::stage::{Staged, stage};
use crate::table::{StagedTable, compare};

/// Stages the rows as they will be read, and looks at them.
pub(super) fn look(
    source: &Source,
    mut table: Table,
    base: &Path,
    folder: &Path,
    format: String,
    mut notes: Vec<String>,
) -> Result<Inferred, DataError> {
    let unwritable = |cause| DataError::Unwritable { path: std::env::temp_dir(), cause };
    let to = folder.join("rows");
    let staged = stage(std::slice::from_ref(&table), 0, base, None, 0, 1.0, &to)?;
    let rows = StagedTable::open(&to)?;
    if rows.rows() == 0 {
        return Err(source.not_tabular("none of its rows fits the others"));
    }
    let mut columns: Vec<InferredColumn> =
        table.columns.iter().enumerate().map(|(at, column)| column_of(&rows, at, column)).collect();
    let time = keys::time(&columns);
    let keys = keys::find(&rows, &columns, time, folder).map_err(unwritable)?;
    for &key in keys.iter().filter_map(|key| <&[usize; 1]>::try_from(&key[..]).ok()).flatten() {
        (columns[key].distinct, columns[key].exact) = (staged.rows, true);
    }
    let remarks = staged.remarks.iter();
    notes.extend(remarks.map(|(what, count)| format!("{}: {what}", counted(*count, "time"))));
    let RowsFrom::File(from) = &mut table.rows else {
        return Err(source.not_tabular("it is made"));
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
        nearly: None,
        time,
        schema: None,
        notes,
    };
    drop(rows);
    if inferred.keys.is_empty() {
        let nearly = nearly(&inferred, &table, base, &to)?;
        let is_few = |nearly: &Nearly| nearly.rows as f64 <= NEARLY * inferred.rows as f64;
        if let Some(nearly) = nearly.as_ref().filter(|nearly| !is_few(nearly)) {
            let names: Vec<_> = nearly.key.iter().map(|at| &*inferred.columns[*at].name).collect();
            inferred.notes.push(format!(
                "{} would be a key but for {}, first {} and {}: with that key keep = \"last\" takes the \
                 last of each",
                names.join(", "),
                counted(nearly.rows, "row"),
                nearly.first.0,
                nearly.first.1
            ));
        }
        if let Some(nearly) = nearly.filter(is_few) {
            inferred.from.keep = Keep::Last;
            inferred.keys.push(nearly.key.clone());
            inferred.nearly = Some(nearly);
        }
    }
    Ok(inferred)
}

/// Whether a time that goes on goes back by an hour at times, as that of local clocks does in autumn.
fn clocks_put_back(rows: &StagedTable, place: usize, column: &InferredColumn) -> Option<String> {
    const HOUR: i64 = 3_600;
    let ColumnType::Timestamp(unit) = column.of else { return None };
    let (mut back, mut hours, mut last) = (0, 0, None);
    for row in 0..rows.rows() {
        let Value::Int(time) = rows.value(row, place) else { continue };
        let step = last.map_or(0, |last: i64| (time - last).div_euclid(unit.per_second()));
        back += u64::from(step < 0);
        hours += u64::from((-HOUR..-HOUR / 2).contains(&step));
        last = Some(time);
    }
    let name = &column.name;
    (hours > 0 && hours == back && hours <= 50).then(|| {
        format!(
            "{name} goes back by an hour {}, as local time does in autumn: name its zone, as in \
             --zone Europe/Berlin",
            if hours == 1 { "once".to_owned() } else { counted(hours, "time") }
        )
    })
}

/// Columns that are unique together but for a few rows: what tells series apart, and time; or time alone.
fn nearly(
    inferred: &Inferred,
    table: &Table,
    base: &Path,
    to: &Path,
) -> Result<Option<Nearly>, DataError> {
    let mut best: Option<Nearly> = None;
    for key in keys::likely(&inferred.columns, inferred.time, inferred.rows) {
        let mut table = table.clone();
        table.key.clone_from(&key);
        if let RowsFrom::File(from) = &mut table.rows {
            from.keep = Keep::Last;
        }
        let staged: Staged = stage(&[table], 0, base, None, 0, 1.0, to)?;
        let rows = inferred.rows - staged.rows;
        let is_most = 2 * rows < inferred.rows;
        if let Some(first) = staged.again.filter(|_| is_most)
            && best.as_ref().is_none_or(|best| rows < best.rows)
        {
            best = Some(Nearly { key, rows, first });
        }
    }
    Ok(best)
}

/// Looks at all values of a column.
fn column_of(rows: &StagedTable, at: usize, column: &Column) -> InferredColumn {
    let mut distinct = Distinct::default();
    let (mut absent, mut ascending) = (0, true);
    let mut examples: Vec<Value<'_>> = Vec::new();
    let (mut least, mut greatest, mut last) = (Value::Null, Value::Null, Value::Null);
    for row in 0..rows.rows() {
        let value = rows.value(row, at);
        if value == Value::Null {
            absent += 1;
            continue;
        }
        distinct.take(&value);
        // Null comes before all values.
        ascending &= compare(&last, &value).is_le();
        last = value;
        if least == Value::Null || compare(&value, &least).is_lt() {
            least = value;
        }
        if compare(&value, &greatest).is_gt() {
            greatest = value;
        }
        if examples.len() < EXAMPLES && !examples.contains(&value) {
            examples.push(value);
        }
    }
    InferredColumn {
        name: column.name.clone(),
        from: column.from.as_deref().cloned(),
        of: column.of,
        nullable: column.nullable,
        absent,
        least: least.to_owned(),
        greatest: greatest.to_owned(),
        distinct: distinct.count().min(rows.rows() as u64 - absent),
        exact: distinct.is_exact(),
        examples: examples.into_iter().map(Value::to_owned).collect(),
        ascending,
    }
}
