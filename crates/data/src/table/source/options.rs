//! Options of DuckDB's readers, by DuckDB's names.

use std::collections::BTreeSet;
use std::path::PathBuf;

use embermark_model::table::Literal;

use crate::DataError;

/// Options that the reader sets itself, by their equivalents.
const RESERVED: [(&str, &[&str]); 4] = [
    ("the columns of the table", &["columns", "types", "dtypes", "column_types", "all_varchar"]),
    ("nothing: options that you do not give are detected", &["auto_detect"]),
    (
        "--lenient",
        &["ignore_errors", "store_rejects", "rejects_table", "rejects_scan", "rejects_limit"],
    ),
    ("nothing: the columns are given", &["sample_size"]),
];
/// Options for how values are written. embermark converts such values itself.
const CONVERTED: [&str; 4] = ["decimal_separator", "thousands", "dateformat", "timestampformat"];

/// Options of DuckDB's readers, by their values.
const OPTIONS: [(Kind, &str); 16] = [
    (
        Kind::Bool,
        "allow_empty allow_quoted_nulls binary_as_string can_have_nan case_insensitive_keys \
         convert_strings_to_integers file_row_number header hive_partitioning hive_types_autocast \
         normalize_names null_padding parallel strict_mode",
    ),
    (Kind::Any, "auto_type_candidates encryption_config filename hive_types new_line records"),
    (Kind::From(1), "buffer_size max_line_size maximum_line_size maximum_object_size"),
    (Kind::Character, "comment escape quote"),
    (Kind::OneOf(&["auto", "none", "gzip", "zstd", "auto_detect"]), "compression"),
    (Kind::Format, "dateformat timestampformat"),
    (Kind::OneOf(&[".", ","]), "decimal_separator"),
    (Kind::Delimiter, "delim sep"),
    (Kind::OneOf(&["utf-8", "utf-16", "latin-1"]), "encoding"),
    (Kind::From(0), "explicit_cardinality skip"),
    (Kind::Share, "field_appearance_threshold"),
    (Kind::From(-1), "files_to_sniff map_inference_threshold maximum_depth maximum_sample_files"),
    (Kind::List, "force_not_null names"),
    (Kind::OneOf(&["auto", "unstructured", "newline_delimited", "nd", "array"]), "format"),
    (Kind::Texts, "null nullstr"),
    (Kind::Separator, "thousands"),
];

/// Values of an option.
#[derive(Clone, Copy)]
enum Kind {
    Any,
    Bool,
    /// A whole number of at least this.
    From(i64),
    /// A number from 0 to 1.
    Share,
    /// A character of one byte, or nothing.
    Character,
    /// A character of one byte.
    Separator,
    /// A text of 1 to 4 bytes.
    Delimiter,
    /// A text or a list of texts.
    Texts,
    /// A list of texts.
    List,
    OneOf(&'static [&'static str]),
    /// A format with the codes of `strptime`.
    Format,
}

/// What is wrong with an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionFault {
    /// No reader has it.
    Unknown,
    /// embermark sets it. The text is the equivalent.
    Reserved(&'static str),
    /// Its value is of another type or out of range. The text is what is allowed.
    Value(&'static str),
    /// Its value is a text, but none of these.
    NotOneOf(&'static [&'static str]),
    /// Its value is a format with an unknown code.
    Format,
}

/// Returns the names of the options that a table may give, sorted.
pub fn option_names() -> BTreeSet<&'static str> {
    OPTIONS.iter().flat_map(|(_, names)| names.split(' ')).collect()
}

/// Returns the equivalent of an option that embermark sets.
fn reserved(option: &str) -> Option<&'static str> {
    RESERVED.iter().find(|(_, names)| names.contains(&option)).map(|(instead, _)| *instead)
}

/// Checks the name and the value of an option of DuckDB's readers.
///
/// # Errors
/// If no reader has such an option, embermark sets it, or it cannot have the value.
pub fn check_option(name: &str, value: &Literal) -> Result<(), OptionFault> {
    if let Some(instead) = reserved(name) {
        return Err(OptionFault::Reserved(instead));
    }
    let kind = OPTIONS.iter().find(|(_, names)| names.split(' ').any(|known| known == name));
    let (kind, _) = kind.ok_or(OptionFault::Unknown)?;
    kind.check(value)
}

impl Kind {
    fn check(self, value: &Literal) -> Result<(), OptionFault> {
        let length = value.as_text().map(str::len);
        let is_text = |value: &Literal| value.as_text().is_some();
        let is_right = match self {
            Self::Any => true,
            Self::Bool => matches!(value, Literal::Bool(_)),
            Self::From(least) => matches!(value, Literal::Int(value) if *value >= least),
            Self::Share => match value {
                Literal::Int(value) => (0..=1).contains(value),
                Literal::Float(value) => (0.0..=1.0).contains(value),
                _ => false,
            },
            Self::Character => length.is_some_and(|length| length <= 1),
            Self::Separator => length == Some(1),
            Self::Delimiter => length.is_some_and(|length| (1..=4).contains(&length)),
            Self::Texts | Self::List => match value {
                Literal::List(values) => values.iter().all(is_text),
                value => matches!(self, Self::Texts) && is_text(value),
            },
            Self::OneOf(names) => match value.as_text() {
                Some(text) if !names.iter().any(|name| name.eq_ignore_ascii_case(text)) => {
                    return Err(OptionFault::NotOneOf(names));
                }
                text => text.is_some(),
            },
            Self::Format => match value.as_text() {
                Some(text) if !unknown_codes(text).is_empty() => return Err(OptionFault::Format),
                text => text.is_some(),
            },
        };
        if is_right { Ok(()) } else { Err(OptionFault::Value(self.allowed())) }
    }

    /// Describes the values.
    const fn allowed(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Bool => "true or false",
            Self::From(..=-1) => "a whole number from -1",
            Self::From(0) => "a whole number from 0",
            Self::From(_) => "a whole number from 1",
            Self::Share => "a number from 0 to 1",
            Self::Character => "one ASCII character, or \"\" for none",
            Self::Separator => "one ASCII character",
            Self::Delimiter => "a text of 1 to 4 bytes",
            Self::Texts => "a text or a list of texts",
            Self::List => "a list of texts",
            Self::OneOf(_) => "a text in quotes",
            Self::Format => "a format in quotes",
        }
    }
}

/// Codes of DuckDB's `strptime`.
pub const CODES: &str = "%a %A %b %B %c %d %f %g %G %h %H %I %j %m %M %n %p %S %T %u %U %V %w %W \
                         %x %X %y %Y %z %Z %%, and without leading zeros %-d %-H %-I %-j %-m %-M \
                         %-S %-y";

/// Returns the codes of a time's format that DuckDB's `strptime` does not have.
pub fn unknown_codes(format: &str) -> Vec<&str> {
    let mut unknown = Vec::new();
    let mut rest = format;
    while let Some(start) = rest.find('%') {
        let code = &rest[start..];
        let mut letters = code.chars().skip(1);
        let (first, second) = (letters.next(), letters.next());
        let is_known = match (first, second) {
            (Some('-'), Some(letter)) => "dHIjmMSy".contains(letter),
            (Some(letter), _) => "aAbBcdfgGhHIjmMnpSTuUVwWxXyYzZ%".contains(letter),
            (None, _) => false,
        };
        let count = if first == Some('-') { 3 } else { 2 };
        let length = code.chars().take(count).map(char::len_utf8).sum();
        if !is_known {
            unknown.push(&code[..length]);
        }
        rest = &code[length..];
    }
    unknown
}

/// Refuses options that the reader sets itself.
pub(super) fn check_options(read: &[(String, Literal)]) -> Result<(), DataError> {
    match read.iter().find_map(|(name, _)| Some((name, reserved(name)?))) {
        Some((name, instead)) => Err(DataError::ReadOption { name: name.clone(), instead }),
        None => Ok(()),
    }
}

/// Returns the value of an option, if it is given.
pub(in crate::table) fn given<'a>(
    read: &'a [(String, Literal)],
    name: &str,
) -> Option<&'a Literal> {
    read.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Formats the options that are passed on, except for some, each after a comma.
pub(super) fn options(read: &[(String, Literal)], but: &[&str]) -> String {
    let handed =
        read.iter().filter(|(name, _)| !but.contains(&&**name) && !CONVERTED.contains(&&**name));
    handed.map(|(name, value)| format!(", {name} = {value}")).collect()
}

/// Formats paths for SQL.
pub(super) fn list(paths: &[PathBuf]) -> Literal {
    let texts = paths.iter().map(|path| Literal::Text(path.to_string_lossy().into_owned()));
    Literal::List(texts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_checked_by_name_and_value() {
        let text = |text: &str| Literal::Text(text.to_owned());
        for (name, value) in [
            ("skip", Literal::Int(0)),
            ("delim", text("||")),
            ("quote", text("")),
            ("encoding", text("UTF-16")),
            ("nullstr", Literal::List(vec![text("NA"), text("-")])),
            ("timestampformat", text("%d.%m.%Y %-H:%M 100%%")),
        ] {
            assert_eq!(check_option(name, &value), Ok(()), "{name}");
        }
        for (name, value, fault) in [
            ("delimm", text(";"), OptionFault::Unknown),
            ("columns", text("x"), OptionFault::Reserved("the columns of the table")),
            ("skip", Literal::Int(-1), OptionFault::Value("a whole number from 0")),
            ("skip", text("1"), OptionFault::Value("a whole number from 0")),
            ("names", text("id"), OptionFault::Value("a list of texts")),
            ("header", text("no"), OptionFault::Value("true or false")),
            ("delim", text(";;;;;"), OptionFault::Value("a text of 1 to 4 bytes")),
            ("thousands", text(".."), OptionFault::Value("one ASCII character")),
            ("decimal_separator", text(";"), OptionFault::NotOneOf(&[".", ","])),
            ("dateformat", text("%Q"), OptionFault::Format),
        ] {
            assert_eq!(check_option(name, &value), Err(fault), "{name}");
        }
    }

    #[test]
    fn codes_that_strptime_does_not_have_are_found() {
        assert_eq!(unknown_codes("%Y-%m-%d %H:%M:%S.%f %-d%%%j"), [""; 0]);
        assert_eq!(unknown_codes("%Q.%d %-Y %e %é%"), ["%Q", "%-Y", "%e", "%é", "%"]);
    }
}
