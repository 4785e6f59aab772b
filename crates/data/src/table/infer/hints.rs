//! Hints about content that a column's type cannot express, with the query or the line of the
//! workload file that extracts it.

use std::path::Path;

use embermark_model::table::{Column, ColumnType, Literal, RowsFile};

use super::guess::{Guess, MISFITS, YEARS};
use super::{Survey, names};
use crate::DataError;
use crate::table::refused::excerpt;
use crate::table::source::{Kind, Source, SourceField, quoted};

/// Parts of a time in separate columns, and their codes in a format.
const PARTS: [(&str, &str); 6] = [
    ("year", "%Y"),
    ("month", "%m"),
    ("day", "%d"),
    ("hour", "%H"),
    ("minute", "%M"),
    ("second", "%S"),
];

/// Returns hints on rows and columns that seem to contain more. `from` describes the source, with
/// names relative to `base`.
pub(super) fn hints(
    source: &Source,
    survey: &Survey,
    columns: &[Column],
    from: &RowsFile,
    base: &Path,
) -> Result<Vec<String>, DataError> {
    let asked = Asked::new(source, from, base)?;
    let mut hints: Vec<String> = nested_rows(source, survey, &asked).into_iter().collect();
    let has_time = columns.iter().any(|column| matches!(column.of, ColumnType::Timestamp(_)));
    for (place, (field, guess)) in source.fields().iter().zip(&survey.guesses).enumerate() {
        let name = &field.name;
        let column = columns.iter().find(|column| column.name == *name);
        let Some(column) = column.filter(|column| column.from.is_none()) else { continue };
        let first = guess.texts().next().unwrap_or_default();
        let has_digits =
            first.bytes().filter(u8::is_ascii_digit).count() > 2 && survey.guesses.len() > 1;
        let first = excerpt(first.as_bytes());
        let quoted = asked.name(name);
        let expression = match column.of {
            ColumnType::Text if !guess.has_codes() => {
                number_expression(source, place, &quoted, guess)?
            }
            _ => None,
        };
        let time = guess.range.filter(|_| !has_time && names::is_time(name));
        if let Some((what, expression)) = time.and_then(|range| time_unit_of(&quoted, range)) {
            let how = asked.replaced(field, &expression, "converts them to times");
            hints.push(format!("{name}: numbers like {what}: {how}"));
        } else if let Some(expression) = expression {
            let how = asked.replaced(field, &expression, "extracts them");
            hints.push(format!("{name}: texts such as {first} contain numbers: {how}"));
        } else if !has_time && names::is_time(name) && column.of == ColumnType::Text && has_digits {
            hints.push(format!("{name}: texts such as {}", unread_times(source, column, guess)));
        }
    }
    let parts: Vec<_> = PARTS
        .iter()
        .map_while(|(part, format)| {
            let is_part = |column: &&Column| column.name.eq_ignore_ascii_case(part);
            Some((&*columns.iter().find(is_part)?.name, *format))
        })
        .collect();
    if parts.len() > 2 && !has_time {
        let names: Vec<_> = parts.iter().map(|(name, _)| format!("{name:?}")).collect();
        let format: Vec<_> = parts.iter().map(|(_, format)| *format).collect();
        hints.push(format!(
            "for a time write time = {{ type = \"timestamp\", unit = \"s\", from = [{}], format = \"{}\" }}",
            names.join(", "),
            format.join(" ")
        ));
    }
    Ok(hints)
}

/// Says of the texts of a column with a name for times which of them are none, and what to do.
fn unread_times(source: &Source, column: &Column, guess: &Guess) -> String {
    let first = guess.texts().next().unwrap_or_default();
    let other = guess.not_a_time();
    let excerpt = excerpt(other.as_deref().unwrap_or(first).as_bytes());
    let unread = format!("{excerpt} are not recognised as times");
    match guess.unit_of_all().filter(|_| source.is_sqlite()) {
        // The database itself compares them as texts.
        Some(unit) => format!(
            "{excerpt} are times: for a column of them write {{ type = \"timestamp{}\", unit = \"{}\" }}",
            if column.nullable { "?" } else { "" },
            unit.name()
        ),
        None if source.is_sqlite() => {
            format!("{unread}: make 2024-01-31 12:00:00 of them in the query")
        }
        None => {
            format!("{unread}: give a format in the words of strptime, or cast them in a query")
        }
    }
}

/// How a query reads the rows.
struct Asked {
    /// SQL after FROM, if there is one.
    call: Option<String>,
    /// Words that SQL does not take for a name without quotes.
    reserved: Vec<String>,
    /// What else the command needs.
    more: &'static str,
}

impl Asked {
    fn new(source: &Source, from: &RowsFile, base: &Path) -> Result<Self, DataError> {
        let base = std::path::absolute(base).map_err(DataError::unreadable(base))?;
        let sql = "SELECT keyword_name FROM duckdb_keywords() \
                   WHERE keyword_category IN ('reserved', 'type_function')";
        let reserved = if source.is_sqlite() { Vec::new() } else { source.texts(sql)? };
        let is_beyond = from.query.is_none() && source.is_beyond(&base);
        Ok(Self {
            call: source.reader_call(from, &base),
            reserved: reserved.into_iter().flatten().flatten().collect(),
            more: match is_beyond {
                true => {
                    "; name the file beside the query, too, because it is not below the folder that a \
                     query reads"
                }
                false => "",
            },
        })
    }

    /// Returns a name as SQL has it.
    fn name(&self, name: &str) -> String {
        let is_plain = name.starts_with(|char: char| char.is_alphabetic() || char == '_')
            && name.chars().all(|char| char.is_alphanumeric() || char == '_')
            && !self.reserved.contains(&name.to_lowercase());
        if is_plain { name.to_owned() } else { quoted(name) }
    }

    /// Says by which query a field becomes this expression, and what that does.
    fn replaced(&self, field: &SourceField, expression: &str, does: &str) -> String {
        match self.call.as_ref().filter(|_| !field.is_nested()) {
            Some(call) => {
                let name = self.name(&field.name);
                let sql = format!("SELECT * REPLACE ({expression} AS {name}) FROM {call}");
                format!("--query {} {does}{}", in_shell(&sql), self.more)
            }
            None => format!("a query {does}"),
        }
    }
}

/// Quotes a text for a shell.
fn in_shell(text: &str) -> String {
    match text.contains(['"', '$', '`', '\\', '!']) {
        true => format!("'{}'", text.replace('\'', r"'\''")),
        false => format!("\"{text}\""),
    }
}

/// Describes rows that seem to contain more rows or more columns.
fn nested_rows(source: &Source, survey: &Survey, asked: &Asked) -> Option<String> {
    let begin = |guess: &Guess, with: &str| guess.texts().all(|text| text.starts_with(with));
    let kind = source.files.as_ref()?.kind;
    let fields = source.fields().iter().zip(&survey.guesses);
    let texts: Vec<_> = fields.filter(|(_, guess)| guess.has_texts()).collect();
    let is_one = kind == Kind::Json && survey.rows == 1;
    let for_each = |what: &str, select: &str| {
        let sql = format!("SELECT {select} FROM {}", asked.call.as_ref()?);
        let (query, more) = (in_shell(&sql), asked.more);
        Some(format!("one row, {what}: for a row per element use --query {query}{more}"))
    };
    if let Some((field, _)) = texts.iter().find(|(_, guess)| is_one && begin(guess, "[{")) {
        let select = format!("unnest({}, recursive := true)", asked.name(&field.name));
        return for_each(&format!("whose {} is a list", field.name), &select);
    }
    let lists: Vec<_> = texts.iter().filter(|(_, guess)| begin(guess, "[")).collect();
    if is_one && lists.len() > 1 {
        let names = lists.iter().map(|(field, _)| asked.name(&field.name));
        let parts: Vec<_> = names.map(|name| format!("unnest({name}) AS {name}")).collect();
        return for_each("whose fields are lists", &parts.join(", "));
    }
    let (field, guess) = texts.first()?;
    let is_wide = guess.texts().all(|text| text.contains("  "));
    (kind == Kind::Csv && survey.guesses.len() == 1 && is_wide).then(|| {
        format!(
            "one column, {:?}: for columns of fixed widths use a --query with substring(), for another \
             delimiter write read = {{ delim = \"…\" }}",
            field.name
        )
    })
}

/// Returns the unit of numbers in this range that may be times, and the expression that converts
/// them to times. `None` if they are times in a known unit already, or no times.
fn time_unit_of(name: &str, (least, greatest): (f64, f64)) -> Option<(&'static str, String)> {
    /// Days from 1899-12-30 to the years 1990 and 2100.
    const DAYS: (f64, f64) = (32_874.0, 73_051.0);
    let milliseconds = (1e3 * YEARS.0 as f64, 1e3 * YEARS.1 as f64);
    let within = |range: (f64, f64)| least >= range.0 && greatest < range.1;
    if within(DAYS) {
        let days = format!("CAST({name} AS DOUBLE)");
        let micros = format!("CAST(round(({days} - 25569) * 86400000000) AS BIGINT)");
        return Some((
            "days since 1899-12-30, as in spreadsheets",
            format!("make_timestamp({micros})"),
        ));
    }
    let whole = format!("CAST(CAST({name} AS DOUBLE) AS BIGINT)");
    within(milliseconds).then_some(("milliseconds since 1970 with an exponent", whole))
}

/// Groups of digits with one of these signs between, without the leading zeros that codes have.
const GROUPS: &str = "(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:[SIGNS][0-9]{3})+)";
/// Formats of numbers in texts: regular expressions, and the expressions that read them. The text
/// before and after a number is the same in all values.
const NUMBER_FORMATS: [(&str, &str); 4] = [
    ("()0x[0-9a-fA-F]+()", "try_cast(TEXT AS BIGINT)"),
    ("()0[0-9]+\\.[0-9]+()", "try_cast(TEXT AS DOUBLE)"),
    (
        "[-+]?([MONEY]*)[-+]?WHOLE(?:\\.[0-9]+)?([UNIT]{0,8})",
        "try_cast(regexp_replace(TEXT, '[^0-9.-]', '', 'g') AS DOUBLE)",
    ),
    (
        "[-+]?([MONEY]*)[-+]?WHOLE(?:,[0-9]+)?([UNIT]{0,8})",
        "try_cast(replace(regexp_replace(TEXT, '[^0-9,-]', '', 'g'), ',', '.') AS DOUBLE)",
    ),
];
/// Separators of groups of digits other than comma and point; currency signs; signs of units
/// without letters.
const GROUP_SEPARATORS: &str = " '\u{a0}\u{202f}\u{2009}";
const CURRENCY: &str = " $€£¥₹\u{a0}";
const UNITS: &str = "%‰°/²³";

/// Returns the expression by which a query converts texts with signs, such as `$` or ` °C`, to
/// numbers. `name` is the field as SQL has it. All values with a number have the same signs.
fn number_expression(
    source: &Source,
    place: usize,
    name: &str,
    guess: &Guess,
) -> Result<Option<String>, DataError> {
    let texts: Vec<_> = guess.texts().map(str::to_owned).collect();
    if source.is_sqlite() || texts.is_empty() {
        return Ok(None);
    }
    // Accountants write negative numbers in parentheses, typesetters with their own sign.
    let mut of = "TEXT".to_owned();
    let within = texts.iter().filter(|text| text.starts_with('(') && text.ends_with(')')).count();
    if within > 0 {
        let sign = if within == texts.len() { "" } else { "-" };
        of = format!("replace(replace({of}, '(', '{sign}'), ')', '')");
    }
    if texts.iter().any(|text| text.starts_with('\u{2212}')) {
        of = format!("replace({of}, '\u{2212}', '-')");
    }
    let patterns = NUMBER_FORMATS.iter().zip([",.", ",.", ",", "."]).map(|((pattern, _), sign)| {
        let pattern = pattern
            .replace("WHOLE", &GROUPS.replace("SIGNS", &format!("{GROUP_SEPARATORS}{sign}")))
            .replace("MONEY", CURRENCY)
            .replace("UNIT", &format!("{CURRENCY}{UNITS}\\pL"));
        Literal::Text(format!("^{pattern}$"))
    });
    let patterns: Vec<_> = patterns.collect();
    let signs = |of: &str, pattern: &Literal| {
        [1, 2].map(|part| format!("count(DISTINCT regexp_extract({of}, {pattern}, {part}))"))
    };
    let counts = NUMBER_FORMATS.iter().zip(&patterns).map(|((_, expression), pattern)| {
        let [before, after] = signs("of", pattern);
        format!(
            "count(*) = count({}) AND bool_and(regexp_matches(of, {pattern})) AND {before} = 1 \
             AND {after} = 1",
            expression.replace("TEXT", "of")
        )
    });
    let sql = format!(
        "SELECT bool_and(regexp_matches(text, '^[-+]?[0-9.]+$') AND NOT starts_with(text, '0')), {} \
         FROM (SELECT unnest({}) AS text, {} AS of)",
        counts.collect::<Vec<_>>().join(", "),
        Literal::List(texts.into_iter().map(Literal::Text).collect()),
        of.replace("TEXT", "text"),
    );
    let answers = source.texts(&sql)?.into_iter().flatten();
    let answers: Vec<bool> = answers.map(|answer| answer.as_deref() == Some("true")).collect();
    let Some((false, are)) = answers.split_first() else { return Ok(None) };
    let Some(found) = are.iter().position(|is| *is) else { return Ok(None) };
    // Rows far below may have another unit.
    let counts = source.count(place, |text| {
        let (of, pattern) = (of.replace("TEXT", text), &patterns[found]);
        let is_one = format!("regexp_matches({of}, {pattern})");
        let [before, after] = signs(&of, pattern).map(|count| format!("{count} FILTER ({is_one})"));
        let others = format!("regexp_matches({text}, '[0-9]') AND NOT {is_one}");
        format!("{before}, {after}, count(*) FILTER ({others})")
    })?;
    let are_alike = matches!(counts[..], [Some(1), Some(1), Some(others)]
        if others as f64 <= MISFITS * guess.seen as f64);
    let expression = NUMBER_FORMATS[found].1.replace("TEXT", &of.replace("TEXT", name));
    Ok(are_alike.then_some(expression))
}
