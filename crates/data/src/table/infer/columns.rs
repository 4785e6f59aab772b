//! Derives columns, and how to read them, from the values of fields.

use std::collections::BTreeMap;

use embermark_model::table::{Column, ColumnType, Field, Literal, RowsFile, TimeUnit};

use super::formats::{self, Format};
use super::guess::Guess;
use super::guess::field_type::Comma;
use super::{Survey, format_count};
use crate::DataError;
use crate::table::source::Source;

/// Describes the lines that are skipped before the rows, and adds the reader's options for them.
pub(super) fn dialect_notes(source: &Source, from: &mut RowsFile) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(dialect) = &source.dialect else { return notes };
    let mut give = |name: &str, value: Literal| {
        if !from.read.iter().any(|(key, _)| key == name) {
            from.read.push((name.to_owned(), value));
        }
    };
    let text = |text: &str| Literal::Text(text.to_owned());
    if dialect.delimiter != "," {
        give("delim", text(&dialect.delimiter));
    }
    if dialect.quote != "\"" {
        give("quote", text(&dialect.quote));
    }
    if dialect.escape != dialect.quote {
        give("escape", text(&dialect.escape));
    }
    if let Some(encoding) = &dialect.encoding {
        give("encoding", text(encoding));
    }
    if !dialect.strict {
        give("strict_mode", Literal::Bool(false));
        notes.push("lines end in more than one way".to_owned());
    }
    if dialect.comments {
        give("comment", text("#"));
        notes.push("lines that begin with '#' are skipped".to_owned());
    }
    if dialect.header && !dialect.header_differs {
        notes.push(format!(
            "the names are those of line {}: if that is a row, write read = {{ header = false }}",
            dialect.skip
        ));
    }
    if !dialect.is_plain {
        if dialect.skip > usize::from(dialect.header) {
            let lines = dialect.skip - usize::from(dialect.header);
            notes.push(format!("{} before the rows skipped", format_count(lines as u64, "line")));
        }
        if !dialect.header {
            notes.push("it has no header: choose the names of the columns".to_owned());
        }
        if dialect.skip > 0 {
            give("skip", Literal::Int(dialect.skip as i64));
            give("names", Literal::List(dialect.names.iter().map(|name| text(name)).collect()));
        } else {
            give("header", Literal::Bool(false));
        }
    }
    notes
}

/// Returns the columns for all fields, with the words for absent values, formats and commas.
pub(super) fn columns(
    source: &Source,
    survey: &Survey,
    from: &mut RowsFile,
    notes: &mut Vec<String>,
) -> Result<Vec<Column>, DataError> {
    let delimiter = source.dialect.as_ref().map(|dialect| &*dialect.delimiter);
    let fields = source.fields();
    let mut found: Vec<_> = fields
        .iter()
        .zip(&survey.guesses)
        .map(|(field, guess)| guess.field_type(&field.name, delimiter))
        .collect();
    // A file has one way to write numbers. If columns differ, those with commas are texts.
    let decimal = found.iter().any(|found| found.comma == Some(Comma::Decimal));
    let thousands = found.iter().any(|found| found.comma == Some(Comma::Thousands));
    let points = found.iter().zip(&survey.guesses).any(|(found, guess)| {
        found.comma.is_none() && found.of == ColumnType::Float && guess.has_points()
    });
    if decimal && (thousands || points) {
        for found in found.iter_mut().filter(|found| found.comma.is_some()) {
            found.of = ColumnType::Text;
            found.absent.clear();
        }
    } else if decimal {
        from.read.push(("decimal_separator".to_owned(), Literal::Text(",".to_owned())));
        if survey.guesses.iter().any(Guess::has_grouping_points) {
            from.read.push(("thousands".to_owned(), Literal::Text(".".to_owned())));
        }
    } else if thousands {
        from.read.push(("thousands".to_owned(), Literal::Text(",".to_owned())));
    }
    let mut columns = Vec::new();
    let mut formats: Vec<Option<Format>> = Vec::new();
    let mut words: BTreeMap<String, (Vec<String>, u64)> = BTreeMap::new();
    for (place, (field, guess)) in fields.iter().zip(&survey.guesses).enumerate() {
        let mut of = found[place].of;
        let mut format = None;
        if source.is_sqlite() && guess.has_texts() && of != ColumnType::Bytes {
            // The database compares such values as texts.
            of = ColumnType::Text;
            found[place].absent.clear();
        } else if of == ColumnType::Text && guess.seen > 0 {
            format = formats::find(source, place, guess)?;
        }
        if let Some(format) = &format {
            let unit = if format.is_fine() { TimeUnit::Microseconds } else { TimeUnit::Seconds };
            of = ColumnType::Timestamp(unit);
            found[place].absent = guess.absent_among_times();
            if format.is_doubtful {
                let name = &field.name;
                let read = &format.text;
                notes.push(format!(
                    "{name}: read as {read:?}, but day, month and year may be in another order"
                ));
            }
        }
        for (word, count) in &found[place].absent {
            if !from.absent.contains(word) {
                from.absent.push(word.clone());
            }
            let of = words.entry(word.clone()).or_insert_with(|| (Vec::new(), 0));
            of.0.push(field.name.clone());
            of.1 += count;
        }
        notes
            .extend(found[place].remark.as_ref().map(|remark| format!("{}: {remark}", field.name)));
        columns.push(Column {
            from: format.as_ref().map(|format| {
                Box::new(Field { format: Some(format.text.clone()), ..Field::default() })
            }),
            nullable: guess.seen < survey.rows || !found[place].absent.is_empty(),
            ..Column::new(&*field.name, of)
        });
        formats.push(format);
    }
    for (word, (names, count)) in words {
        let names = match &names[..] {
            [first, .., last] if names.len() > 4 => {
                format!("{} columns, {first} to {last}", names.len())
            }
            names => names.join(", "),
        };
        notes.push(format!(
            "{names}: {word:?} means a missing value, {}",
            format_count(count, "time")
        ));
    }
    for (column, found) in columns.iter_mut().zip(&found).filter(|(column, _)| column.nullable) {
        let own: Vec<String> = found.absent.iter().map(|(word, _)| word.clone()).collect();
        if from.absent.iter().any(|word| !own.contains(word)) {
            column.from.get_or_insert_default().absent = Some(own);
        }
    }
    if !source.is_sqlite() {
        join_date_and_time(source, survey, &mut columns, &formats)?;
    }
    Ok(columns)
}

/// Joins a column of dates and a column of times of day into one, if there is exactly one of each.
fn join_date_and_time(
    source: &Source,
    survey: &Survey,
    columns: &mut Vec<Column>,
    formats: &[Option<Format>],
) -> Result<(), DataError> {
    let day_of = |place: usize| match &formats[place] {
        Some(format) if !format.has_hours() => Some(format.text.clone()),
        None if survey.guesses[place].is_days() => Some("%Y-%m-%d".to_owned()),
        _ => None,
    };
    let days: Vec<_> = (0..columns.len()).filter_map(|at| Some((at, day_of(at)?))).collect();
    let [(day, format)] = &days[..] else { return Ok(()) };
    let mut clocks = Vec::new();
    for (place, column) in columns.iter().enumerate().filter(|(_, c)| c.of == ColumnType::Text) {
        let clock = formats::clock(source, place, &survey.guesses[place])?;
        clocks.extend(clock.map(|clock| (place, clock, column.nullable)));
    }
    let [(clock, hours, nullable)] = &clocks[..] else { return Ok(()) };
    let names = vec![columns[*day].name.clone(), columns[*clock].name.clone()];
    let unit = if hours.is_fine() { TimeUnit::Microseconds } else { TimeUnit::Seconds };
    let format = Some(format!("{format} {}", hours.text));
    let column = &mut columns[*day];
    column.of = ColumnType::Timestamp(unit);
    column.nullable |= nullable;
    column.from = Some(Box::new(Field { names, format, absent: None }));
    columns.remove(*clock);
    Ok(())
}
