//! Hints about content that a column's type cannot express, with the query or the line of the
//! workload file that extracts it.

use embermark_model::table::{Column, ColumnType, Literal};

use super::guess::{Guess, YEARS};
use super::{Survey, names};
use crate::DataError;
use crate::table::refused::excerpt;
use crate::table::source::{Kind, Source};

/// Parts of a time in separate columns, and their codes in a format.
const PARTS: [(&str, &str); 6] = [
    ("year", "%Y"),
    ("month", "%m"),
    ("day", "%d"),
    ("hour", "%H"),
    ("minute", "%M"),
    ("second", "%S"),
];

/// Returns hints on rows and columns that seem to contain more.
pub(super) fn hints(
    source: &Source,
    survey: &Survey,
    columns: &[Column],
) -> Result<Vec<String>, DataError> {
    let call = reader_call(source);
    let mut hints: Vec<String> = nested_rows(source, survey, &call).into_iter().collect();
    let has_time = columns.iter().any(|column| matches!(column.of, ColumnType::Timestamp(_)));
    for (field, guess) in source.fields().iter().zip(&survey.guesses) {
        let name = &field.name;
        let column = columns.iter().find(|column| column.name == *name);
        let Some(column) = column.filter(|column| column.from.is_none()) else { continue };
        let first = excerpt(guess.texts().next().unwrap_or_default().as_bytes());
        let has_digits =
            first.bytes().filter(u8::is_ascii_digit).count() > 2 && survey.guesses.len() > 1;
        let expression = match column.of {
            ColumnType::Text if !guess.has_codes() => number_expression(source, name, guess)?,
            _ => None,
        };
        let time = guess.range.filter(|_| !has_time && names::is_time(name));
        if let Some((what, expression)) = time.and_then(|range| time_unit_of(name, range)) {
            hints.push(format!(
                "{name}: numbers like {what}: --query \"SELECT * REPLACE ({expression} AS {name}) FROM {call}\" \
                 converts them to times"
            ));
        } else if let Some(expression) = expression {
            hints.push(format!(
                "{name}: texts such as {first} contain numbers: --query \"SELECT * REPLACE ({expression} AS \
                 {name}) FROM {call}\" extracts them"
            ));
        } else if !has_time && names::is_time(name) && column.of == ColumnType::Text && has_digits {
            hints.push(format!(
                "{name}: texts such as {first} are not recognised as times: give a format in the words of \
                 strptime, or cast them in a query"
            ));
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

/// Describes rows that seem to contain more rows or more columns.
fn nested_rows(source: &Source, survey: &Survey, call: &str) -> Option<String> {
    let begin = |guess: &Guess, with: &str| guess.texts().all(|text| text.starts_with(with));
    let kind = source.files.as_ref()?.kind;
    let fields = source.fields().iter().zip(&survey.guesses);
    let texts: Vec<_> = fields.filter(|(_, guess)| guess.has_texts()).collect();
    let is_one = kind == Kind::Json && survey.rows == 1;
    if let Some((field, _)) = texts.iter().find(|(_, guess)| is_one && begin(guess, "[{")) {
        return Some(format!(
            "one row, whose {0} is a list: for a row per element use --query \"SELECT \
             unnest({0}, recursive := true) FROM {call}\"",
            field.name
        ));
    }
    let lists: Vec<_> = texts.iter().filter(|(_, guess)| begin(guess, "[")).collect();
    if is_one && lists.len() > 1 {
        let parts = lists.iter().map(|(field, _)| format!("unnest({0}) AS {0}", field.name));
        return Some(format!(
            "one row, whose fields are lists: for a row per element use --query \"SELECT {} \
             FROM {call}\"",
            parts.collect::<Vec<_>>().join(", ")
        ));
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

/// Returns the call of the reader function by which a query reads the first file.
fn reader_call(source: &Source) -> String {
    let function = match source.files.as_ref().map(|files| files.kind) {
        Some(Kind::Json) => "read_json",
        Some(Kind::Parquet) => "read_parquet",
        _ => "read_csv",
    };
    format!("{function}({})", Literal::Text(source.name.to_string_lossy().into_owned()))
}

/// Returns the unit of numbers in this range that may be times, and the expression that converts
/// them to times. `None` if they are times in a known unit already, or no times.
fn time_unit_of(name: &str, (least, greatest): (f64, f64)) -> Option<(&'static str, String)> {
    /// Days from 1899-12-30 to the years 1990 and 2100.
    const DAYS: (f64, f64) = (32_874.0, 73_051.0);
    let milliseconds = (1e3 * YEARS.0 as f64, 1e3 * YEARS.1 as f64);
    let within = |range: (f64, f64)| least >= range.0 && greatest < range.1;
    if within(DAYS) {
        let micros = format!("CAST(round(({name} - 25569) * 86400000000) AS BIGINT)");
        return Some((
            "days since 1899-12-30, as in spreadsheets",
            format!("make_timestamp({micros})"),
        ));
    }
    within(milliseconds)
        .then(|| ("milliseconds since 1970 with an exponent", format!("CAST({name} AS BIGINT)")))
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
/// numbers.
fn number_expression(
    source: &Source,
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
    let counts =
        NUMBER_FORMATS.iter().zip([",.", ",.", ",", "."]).map(|((pattern, expression), sign)| {
            let pattern = pattern
                .replace("WHOLE", &GROUPS.replace("SIGNS", &format!("{GROUP_SEPARATORS}{sign}")))
                .replace("MONEY", CURRENCY)
                .replace("UNIT", &format!("{CURRENCY}{UNITS}\\pL"));
            let pattern = Literal::Text(format!("^{pattern}$"));
            let parts = [1, 2].map(|part| format!("regexp_extract(of, {pattern}, {part})"));
            let expression = expression.replace("TEXT", "of");
            format!(
                "count(*) = count({expression}) AND bool_and(regexp_matches(of, {pattern})) \
             AND count(DISTINCT {}) = 1 AND count(DISTINCT {}) = 1",
                parts[0], parts[1]
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
    let found = NUMBER_FORMATS.iter().zip(are).find(|(_, is)| **is);
    Ok(found.map(|((_, expression), _)| expression.replace("TEXT", &of.replace("TEXT", name))))
}
