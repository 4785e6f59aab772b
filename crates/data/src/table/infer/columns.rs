//! Derives columns, and how to read them, from the values of fields.

use std::collections::BTreeMap;

use embermark_model::table::{Column, ColumnType, Field, Literal, RowsFile, TimeUnit};

use super::formats::{self, Format};
use super::{Survey, count_names, format_count, names, numbers};
use crate::DataError;
use crate::table::source::Source;

/// Describes the lines that are skipped before the rows, and adds the reader's options for them.
pub(super) fn dialect_notes(source: &Source, from: &mut RowsFile) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(dialect) = &source.dialect else { return notes };
    if source.dialects_differ {
        // A run finds out about each of them, as this does.
        notes.push("the files are written in different ways: each is read in its own".to_owned());
        return notes;
    }
    let mut give = |name: &str, value: Literal| {
        if !from.read.iter().any(|(key, _)| key == name) {
            from.read.push((name.to_owned(), value));
        }
    };
    let text = |text: &str| Literal::Text(text.to_owned());
    for (name, value) in [
        ("delim", (dialect.delimiter != ",").then(|| text(&dialect.delimiter))),
        ("quote", (dialect.quote != "\"").then(|| text(&dialect.quote))),
        ("escape", (dialect.escape != dialect.quote).then(|| text(&dialect.escape))),
        ("encoding", dialect.encoding.as_deref().map(text)),
        ("strict_mode", (!dialect.strict).then_some(Literal::Bool(false))),
        ("comment", dialect.comments.then(|| text("#"))),
    ] {
        value.into_iter().for_each(|value| give(name, value));
    }
    if !dialect.strict {
        notes.push("lines end in more than one way".to_owned());
    }
    if dialect.comments {
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
            notes.push(
                "it has no header: choose the names of the columns, or write read = { header = \
                 true } if its first line has them"
                    .to_owned(),
            );
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
    let fields = source.fields();
    let mut found = numbers::field_types(source, survey, from, notes);
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
            if format.is_some() {
                found[place].absent = guess.absent_words(false).0;
            }
        } else if matches!(of, ColumnType::Int { .. })
            && names::is_day(&field.name)
            && !source.is_sqlite()
        {
            format = formats::packed(source, place, guess)?;
        }
        if let Some(format) = &format {
            let unit = if format.is_fine() { TimeUnit::Microseconds } else { TimeUnit::Seconds };
            of = ColumnType::Timestamp(unit);
            let is_first = !columns.iter().any(|column: &Column| is_timestamp(column.of));
            notes.extend(format_notes(&field.name, format, is_first));
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
        if of == ColumnType::Bytes && field.type_name == "VARCHAR" {
            let values = match guess.not_texts {
                1 => "1 value has a NUL or is not UTF-8".to_owned(),
                values => format!("{values} values have a NUL or are not UTF-8"),
            };
            notes.push(format!("{}: bytes, because {values}", field.name));
        }
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
        let is_huge = word.bytes().any(|byte| byte.is_ascii_digit())
            && word.parse::<f64>().is_ok_and(f64::is_infinite);
        let what = match is_huge {
            true => format!("{word} is beyond the range of a double: taken for a missing value"),
            false => format!("{word:?} means a missing value"),
        };
        notes.push(format!("{}: {what}, {}", count_names(&names), format_count(count, "time")));
    }
    for (column, found) in columns.iter_mut().zip(&found).filter(|(column, _)| column.nullable) {
        let own: Vec<String> = found.absent.iter().map(|(word, _)| word.clone()).collect();
        if from.absent.iter().any(|word| !own.contains(word)) {
            column.from.get_or_insert_default().absent = Some(own);
        }
    }
    if !source.is_sqlite() {
        notes.extend(join_date_and_time(source, survey, &mut columns, &formats)?);
    }
    Ok(columns)
}

const fn is_timestamp(of: ColumnType) -> bool {
    matches!(of, ColumnType::Timestamp(_))
}

/// Whether the times of a column may be local: neither they nor their format have a zone.
pub(super) fn is_local(column: &Column, source: &Source, survey: &Survey) -> bool {
    if let Some(format) = column.from.as_ref().and_then(|from| from.format.as_ref()) {
        return !["%z", "Z", "GMT"].iter().any(|sign| format.contains(sign));
    }
    let mut fields = source.fields().iter().zip(&survey.guesses);
    fields.any(|(field, guess)| field.name == column.name && guess.are_local())
}

/// Notes what is uncertain about the format of a field. A first time column with a name for times
/// is no code.
fn format_notes(name: &str, format: &Format, is_first: bool) -> Vec<String> {
    let read = &format.text;
    let order = format.is_doubtful.then(|| {
        format!("{name}: read as {read:?}, but day, month and year may be in another order")
    });
    let is_time = is_first && names::is_day(name);
    let doubt = format.doubt().filter(|_| !is_time).map(|doubt| {
        format!("{name}: read as {read:?}, {doubt}: if these are not dates, write \"text\"")
    });
    order.into_iter().chain(doubt).collect()
}

/// Joins a column of dates and the first column of times of day into one, if there is one column
/// of dates. Returns notes on what is not joined.
fn join_date_and_time(
    source: &Source,
    survey: &Survey,
    columns: &mut Vec<Column>,
    formats: &[Option<Format>],
) -> Result<Vec<String>, DataError> {
    let day_of = |place: usize| match &formats[place] {
        Some(format) if format.is_of_days() => Some(format.text.clone()),
        None if survey.guesses[place].is_days() => Some("%Y-%m-%d".to_owned()),
        _ => None,
    };
    let days: Vec<_> = (0..columns.len()).filter_map(|at| Some((at, day_of(at)?))).collect();
    let [(day, format)] = &days[..] else { return Ok(Vec::new()) };
    let (mut clocks, mut notes) = (Vec::new(), Vec::new());
    for (place, column) in columns.iter().enumerate().filter(|(_, c)| c.of == ColumnType::Text) {
        if survey.guesses[place].are_clocks_to_24() {
            notes.push(format!(
                "{}: 24:00 is not read as a time of day, so {} is read without it: write 00:00 of \
                 the next day",
                column.name, columns[*day].name
            ));
        }
        let clock = formats::clock(source, place, &survey.guesses[place])?;
        clocks.extend(clock.map(|clock| (place, clock, column.nullable)));
    }
    let [(clock, hours, nullable), others @ ..] = &clocks[..] else { return Ok(notes) };
    let midnights = formats::count_midnights(source, *clock)?;
    if midnights > 0 {
        notes.push(format!(
            "{}: 24:00 is not read as a time of day, {}: write 00:00 of the next day",
            columns[*clock].name,
            format_count(midnights, "time")
        ));
    }
    if !others.is_empty() {
        let others: Vec<_> = others.iter().map(|(at, ..)| columns[*at].name.clone()).collect();
        notes.push(format!(
            "{} is read with the time of day in {}, and not with {}",
            columns[*day].name,
            columns[*clock].name,
            count_names(&others)
        ));
    }
    let names = vec![columns[*day].name.clone(), columns[*clock].name.clone()];
    let unit = if hours.is_fine() { TimeUnit::Microseconds } else { TimeUnit::Seconds };
    let format = Some(format!("{format} {}", hours.text));
    let column = &mut columns[*day];
    column.of = ColumnType::Timestamp(unit);
    column.nullable |= nullable;
    column.from = Some(Box::new(Field { names, format, absent: None }));
    columns.remove(*clock);
    Ok(notes)
}
