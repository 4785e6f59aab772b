//! What rows may have in them that a column of a type cannot say: how a query, or a line of the file, takes
//! it out.

use embermark_model::table::{Column, ColumnType, Literal};

use super::guess::{Guess, has_decimal_comma};
use super::{Survey, names};
use crate::table::refused::excerpt;
use crate::table::source::{Kind, Source};

/// Parts of a time that stand in columns of their own, and how a format calls them.
const PARTS: [(&str, &str); 6] = [
    ("year", "%Y"),
    ("month", "%m"),
    ("day", "%d"),
    ("hour", "%H"),
    ("minute", "%M"),
    ("second", "%S"),
];

/// What to do about rows and columns that look like more.
pub(super) fn hints(source: &Source, survey: &Survey, columns: &[Column]) -> Vec<String> {
    let mut hints: Vec<String> = rows(source, survey).into_iter().collect();
    let fields = source.fields().iter().zip(&survey.guesses);
    let column = |name: &str| columns.iter().find(|column| column.name == name);
    let is_time = |column: &Column| matches!(column.of, ColumnType::Timestamp(_));
    let has_time = columns.iter().any(is_time);
    for (field, guess) in fields {
        let name = &field.name;
        let Some(column) = column(name).filter(|column| column.from.is_none()) else { continue };
        let first = excerpt(guess.texts().next().unwrap_or_default().as_bytes());
        let has_digits =
            first.bytes().filter(u8::is_ascii_digit).count() > 2 && survey.guesses.len() > 1;
        let expression = match column.of {
            ColumnType::Text => number(name, guess),
            _ => None,
        };
        if let Some(expression) = expression {
            hints.push(format!(
                "{name}: texts such as {first} hold numbers: --query \"SELECT * REPLACE ({expression} AS \
                 {name}) FROM {}\" takes them out",
                read(source)
            ));
        } else if !has_time && names::is_time(name) && column.of == ColumnType::Text && has_digits {
            hints.push(format!(
                "{name}: texts such as {first} are no times by themselves: a format for them has the words \
                 of strptime, and a query may cast them"
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
    hints
}

/// What rows look like that hold more rows, or more columns.
fn rows(source: &Source, survey: &Survey) -> Option<String> {
    let begin = |guess: &Guess, with: &str| guess.texts().all(|text| text.starts_with(with));
    let kind = source.files.as_ref()?.kind;
    let texts = source.fields().iter().zip(&survey.guesses).filter(|(_, guess)| guess.has_texts());
    let texts: Vec<_> = texts.collect();
    let is_one = kind == Kind::Json && survey.rows == 1;
    if let Some((field, _)) = texts.iter().find(|(_, guess)| is_one && begin(guess, "[{")) {
        return Some(format!(
            "one row, whose {0} holds a list: for a row of each of its parts take --query \"SELECT \
             unnest({0}, recursive := true) FROM {1}\"",
            field.name,
            read(source)
        ));
    }
    let lists: Vec<_> = texts.iter().filter(|(_, guess)| begin(guess, "[")).collect();
    if is_one && lists.len() > 1 {
        let parts = lists.iter().map(|(field, _)| format!("unnest({0}) AS {0}", field.name));
        return Some(format!(
            "one row, whose fields hold lists: for a row of each of their parts take --query \"SELECT {} \
             FROM {}\"",
            parts.collect::<Vec<_>>().join(", "),
            read(source)
        ));
    }
    let (field, guess) = texts.first()?;
    let is_wide = guess.texts().all(|text| text.contains("  "));
    (kind == Kind::Csv && survey.guesses.len() == 1 && is_wide).then(|| {
        format!(
            "one column, {:?}: for columns of fixed widths take a --query with substring(), for another \
             delimiter read = {{ delim = \"…\" }}",
            field.name
        )
    })
}

/// The reader of a query that reads the first file.
fn read(source: &Source) -> String {
    let function = match source.files.as_ref().map(|files| files.kind) {
        Some(Kind::Json) => "read_json",
        Some(Kind::Parquet) => "read_parquet",
        _ => "read_csv",
    };
    format!("{function}({})", Literal::Text(source.name.to_string_lossy().into_owned()))
}

/// The expression that makes numbers of texts with the same sign before or behind each, as `$` or ` °C`, or
/// with signs between groups of digits.
fn number(name: &str, guess: &Guess) -> Option<String> {
    if guess.texts().all(|text| text.starts_with("0x")) && guess.texts().next().is_some() {
        return Some(format!("try_cast({name} AS BIGINT)"));
    }
    let is_part = |char: char| char.is_ascii_digit() || "-.,'\u{a0}\u{202f}\u{2009}".contains(char);
    let split = |text: &str| {
        let text = text.trim_start_matches(['-', '+']);
        let from = text.find(is_part)?;
        let to = text.rfind(|char: char| char.is_ascii_digit())? + 1;
        let digits = text.get(from..to).filter(|digits| digits.chars().all(is_part))?;
        Some((text[..from].to_owned(), digits.to_owned(), text[to..].to_owned()))
    };
    let parts: Vec<_> = guess.texts().map(split).collect::<Option<_>>()?;
    let (before, _, behind) = parts.first()?;
    let is_money = |char: char| char.is_whitespace() || "$€£¥₹".contains(char);
    let is_unit = |char: char| is_money(char) || char.is_alphabetic() || "%‰°/²³".contains(char);
    let are_signs = before.chars().all(is_money) && behind.chars().all(is_unit);
    let are_alike = parts.iter().all(|(a, digits, b)| {
        let is_padded =
            digits.starts_with('0') && digits[1..].starts_with(|next: char| next.is_ascii_digit());
        a == before && b == behind && !is_padded
    });
    let has_signs = before.len() + behind.len() > 0
        || parts.iter().any(|(_, digits, _)| {
            !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        });
    if !are_signs || !are_alike || !has_signs || behind.chars().count() > 8 {
        return None;
    }
    let kept = |signs: &str| {
        let kept = |char: &char| char.is_ascii_digit() || *char == '-' || signs.contains(*char);
        parts
            .iter()
            .map(|(_, digits, _)| digits.chars().filter(kept).collect::<String>())
            .collect::<Vec<_>>()
    };
    let is_number = |text: &String| fast_float2::parse::<f64, _>(text).is_ok();
    if kept(".").iter().all(is_number)
        && !parts.iter().all(|(_, digits, _)| has_decimal_comma(digits.as_bytes()))
    {
        return Some(format!("try_cast(regexp_replace({name}, '[^0-9.-]', '', 'g') AS DOUBLE)"));
    }
    let is_comma = |text: &String| has_decimal_comma(text.as_bytes());
    kept(",").iter().all(is_comma).then(|| {
        format!(
            "try_cast(replace(regexp_replace({name}, '[^0-9,-]', '', 'g'), ',', '.') AS DOUBLE)"
        )
    })
}
