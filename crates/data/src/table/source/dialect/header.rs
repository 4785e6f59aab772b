//! Finds the header of a delimited file, and the lines around it that are not rows.

use crate::table::absent::is_marker;
use crate::table::time;

/// Returns the index of the header, or of the first row if there is no header. Blank lines,
/// comments, titles and lines with an unusual number of fields may come before it.
pub(super) fn first_line(lines: &[&str], records: &[Vec<String>], width: usize) -> usize {
    let is_row = |at: &usize| {
        records[*at].len() == width && !lines[*at].trim().is_empty() && !is_comment(lines[*at])
    };
    let row = (0..lines.len()).find(is_row).unwrap_or(0);
    let row = row + titles(&records[row..]);
    // The header may lack the name of the first column, as in files that R writes.
    let lacks_one = |at: usize| records[at].len() + 1 == width && width > 2;
    // It may end with a delimiter when the rows do not.
    let has_end = |at: usize| {
        records[at].split_last().is_some_and(|(last, names)| {
            last.trim().is_empty() && names.len() == width && !is_values(names)
        })
    };
    // It may be a comment.
    let is_hidden = |at: usize| {
        is_comment(lines[at]) && records[at].len() == width && width > 1 && is_values(&records[row])
    };
    let is_names = |at: &usize| lacks_one(*at) || has_end(*at) || is_hidden(*at);
    row.checked_sub(1).filter(is_names).unwrap_or(row)
}

pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// Returns how many of the first records are titles: mostly empty records without values, before a
/// header.
fn titles(records: &[Vec<String>]) -> usize {
    let is_title = |record: &&Vec<String>| {
        let filled = record.iter().filter(|field| !field.trim().is_empty()).count();
        2 * filled < record.len() && !is_values(record)
    };
    let count = records.iter().take(10).take_while(is_title).count();
    let names = records.get(count).is_some_and(|names| !is_values(names));
    if names { count } else { 0 }
}

/// Whether the contents of the first record show that it is a header. It has text in a column of
/// numbers or times, a time in a column of numbers, or consecutive numbers that no other record
/// has.
pub(super) fn differs(records: &[Vec<String>]) -> bool {
    let Some((first, rest)) = records.split_first() else { return true };
    let kind = |field: &str| match is_number(field) {
        true => 1,
        false => 2 * u8::from(is_time(field)),
    };
    let differs = |place: usize| {
        let name = &first[place];
        let values = rest.iter().filter_map(|row| row.get(place)).filter(|value| !value.is_empty());
        let values: Vec<_> = values.take(100).collect();
        let is_other = |value: &&&String| kind(value) != 0 && (kind(name) == 0 || kind(value) == 1);
        let of_kind = values.iter().filter(is_other).count();
        kind(name) != 1
            && !is_marker(name)
            && !name.trim().is_empty()
            && !values.is_empty()
            && 2 * of_kind > values.len()
    };
    (0..first.len()).any(differs)
        || counts_on(first) && !rest.iter().any(|row| counts_on(row))
        || names_years(first, rest)
}

/// Whether the numbers of a record are years at equal distances, and those below them are not years.
fn names_years(first: &[String], rest: &[Vec<String>]) -> bool {
    let year = |field: &str| {
        let year = field.trim().parse::<i64>().ok();
        year.filter(|year| field.trim().len() == 4 && (1900..=2100).contains(year))
    };
    let places: Vec<usize> = (0..first.len()).filter(|at| is_number(&first[*at])).collect();
    let Some(years) = places.iter().map(|at| year(&first[*at])).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let distances: Vec<i64> = years.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let are_equal = match &distances[..] {
        [] => false,
        [one] => one.abs() == 1,
        [one, others @ ..] => *one != 0 && others.iter().all(|other| other == one),
    };
    let are_below = |at: usize| {
        let values: Vec<_> = rest.iter().filter_map(|row| row.get(at)).take(100).collect();
        let years = values.iter().filter(|value| year(value).is_some()).count();
        !values.is_empty() && 10 * years <= values.len()
    };
    are_equal && places.into_iter().all(are_below)
}

/// Whether the numbers of a record are consecutive, as in a header of years. It has three or more
/// of them.
pub(super) fn counts_on(record: &[String]) -> bool {
    let numbers: Vec<i64> = record.iter().filter_map(|field| field.trim().parse().ok()).collect();
    numbers.len() > 2 && numbers.windows(2).all(|pair| pair[1].checked_sub(1) == Some(pair[0]))
}

/// Whether a field of the first record has many digits, and all values below it differ from it only
/// in digits.
pub(super) fn is_alike(records: &[Vec<String>]) -> bool {
    const DIGITS: usize = 6;
    let shape = |field: &str| field.replace(|char: char| char.is_ascii_digit(), "0");
    let Some((first, rest)) = records.split_first() else { return false };
    let rest = &rest[..rest.len().min(100)];
    let is_alike = |(place, field): (usize, &String)| {
        let shaped = shape(field);
        field.bytes().filter(u8::is_ascii_digit).count() >= DIGITS
            && rest.iter().all(|row| row.get(place).is_some_and(|field| shape(field) == shaped))
    };
    rest.len() > 1 && first.iter().enumerate().any(is_alike)
}

/// Whether a record has a number or a time.
pub(super) fn is_values(record: &[String]) -> bool {
    record.iter().any(|field| is_number(field) || is_time(field))
}

/// Returns how many records between header and rows are not rows, such as a line of units. The last
/// of them has text and no value in the columns in which rows have numbers or times.
pub(super) fn units(records: &[Vec<String>], width: usize) -> usize {
    const MOST: usize = 10;
    let rows: Vec<_> = records.iter().filter(|row| row.len() == width).collect();
    let Some(later) = rows.get(MOST.min(rows.len() / 2)..).filter(|_| rows.len() >= 8) else {
        return 0;
    };
    let is_value = |field: &String| is_number(field) || is_time(field);
    let is_numeric = |place: &usize| {
        10 * later.iter().filter(|row| is_value(&row[*place])).count() >= 9 * later.len()
    };
    let numeric: Vec<_> = (0..width).filter(is_numeric).collect();
    let fields = |record: &'_ Vec<String>| -> Vec<String> {
        numeric.iter().filter_map(|place| record.get(*place)).cloned().collect()
    };
    let is_row = |record: &&Vec<String>| fields(record).iter().all(is_value);
    let is_units = |record: &&Vec<String>| {
        let fields = fields(record);
        record.len() == width
            && !fields.iter().any(is_value)
            && fields.iter().any(|field| !field.trim().is_empty() && !is_marker(field))
    };
    let head: Vec<_> = records.iter().take(MOST).take_while(|record| !is_row(record)).collect();
    head.iter().rposition(is_units).map_or(0, |last| last + 1)
}

/// Returns `width` different column names from a header. An empty name becomes `column` with its
/// index, and a repeated name gets a number. A header with too few names lacks the first ones,
/// which become `row_name`. If all rows end with a delimiter, it lacks the last one.
pub(super) fn named(record: &[String], rows: &[Vec<String>], width: usize) -> Vec<String> {
    let ends_empty = |row: &Vec<String>| row.last().is_some_and(|last| last.trim().is_empty());
    let is_at_end = rows.iter().filter(|row| row.len() == width).all(ends_empty);
    let missing = if is_at_end { 0 } else { width.saturating_sub(record.len()) };
    let all = (0..missing).map(|_| "row_name").chain(record.iter().map(String::as_str));
    let all = all.chain((missing + record.len()..width).map(|_| ""));
    let mut names: Vec<String> = Vec::with_capacity(width);
    for (place, name) in all.take(width).enumerate() {
        let name = name.trim().trim_start_matches(if place == 0 { "#" } else { "" }).trim();
        let name = if name.is_empty() { format!("column{place}") } else { name.to_owned() };
        let taken = |name: &str| names.iter().any(|other| other == name);
        let numbered = (1..).map(|number| format!("{name}_{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
        names.extend(name);
    }
    names
}

/// Returns the names that a header has more than once.
pub(super) fn repeated(record: &[String]) -> Vec<String> {
    let mut names: Vec<&str> = record.iter().map(|name| name.trim()).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    let mut repeated: Vec<&str> =
        names.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]).collect();
    repeated.dedup();
    repeated.into_iter().map(str::to_owned).collect()
}

pub(super) fn is_number(field: &str) -> bool {
    let field = field.trim();
    let numeric = |byte: &u8| byte.is_ascii_digit();
    field.bytes().any(|byte| numeric(&byte))
        && fast_float2::parse::<f64, _>(field.replacen(',', ".", 1)).is_ok()
}

pub(super) fn is_time(field: &str) -> bool {
    let field = field.trim();
    let marks = field.bytes().filter(|byte| matches!(byte, b'-' | b'/' | b'.' | b':')).count();
    let digits = field.bytes().filter(u8::is_ascii_digit).count();
    time::parse(field.as_bytes()).is_some() || marks >= 2 && digits >= 6 && field.len() < 40
}
