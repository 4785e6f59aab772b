//! Recognises the dialect of a delimited file by its beginning.

mod header;
#[cfg(test)]
mod tests;
mod text;

use embermark_model::table::Literal;

use super::options::given;
use header::{differs, first_line, is_alike, is_comment, is_values, named, repeated, units};
pub(super) use text::is_open;
use text::{decoded, delimiter_of, encoding, lines, mixes_ends, split, unreadable, usual_width};

/// Delimiters, with those first that are rarely part of values.
const DELIMITERS: [char; 6] = [';', '\t', '|', '\u{1}', ',', ' '];
/// Options that describe how the text is written, and are not passed on unchanged.
pub(super) const OPTIONS: [&str; 9] =
    ["delim", "sep", "quote", "escape", "header", "skip", "names", "encoding", "strict_mode"];

/// Dialect of a delimited file: how it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::table) struct Dialect {
    pub(in crate::table) delimiter: String,
    pub(in crate::table) quote: String,
    pub(in crate::table) escape: String,
    /// Number of lines before the first row. A quoted text over several lines counts as one.
    pub(in crate::table) skip: usize,
    /// Whether one of these lines has the names of the columns.
    pub(in crate::table) header: bool,
    /// Whether the values of the header are of another kind than those of the rows.
    pub(in crate::table) header_differs: bool,
    /// Whether the only line before the rows is the header.
    pub(in crate::table) is_plain: bool,
    pub(in crate::table) names: Vec<String>,
    /// Names that the header has more than once. The others of a name have a number.
    pub(in crate::table) repeated: Vec<String>,
    /// DuckDB's name of the encoding. `None` for UTF-8.
    pub(in crate::table) encoding: Option<String>,
    /// Whether all lines end in the same way.
    pub(in crate::table) strict: bool,
    /// Whether there are lines among the rows that begin with `#`, and no row does.
    pub(in crate::table) comments: bool,
    /// How lines begin that the reader leaves out, as given or found.
    pub(super) comment: Option<String>,
    /// The number of the skipped lines that are comments, if the reader leaves out comments. It does
    /// not count them among the lines that it skips.
    comments_before: usize,
}

impl Dialect {
    /// Recognises the dialect of a file by its beginning. Options in `read` take precedence. With
    /// `guesses`, bytes that are not UTF-8 are taken for Latin-1.
    pub(super) fn detect(
        head: &[u8],
        read: &[(String, Literal)],
        guesses: bool,
    ) -> Result<Self, String> {
        let given = |name: &str| given(read, name);
        let text_of = |name| given(name).and_then(Literal::as_text).map(str::to_owned);
        if let Some(what) = unreadable(head) {
            return Err(what.to_owned());
        }
        let encoding = text_of("encoding").or_else(|| encoding(head, guesses).map(str::to_owned));
        let text = decoded(head, encoding.as_deref());
        let mut quote = text_of("quote").unwrap_or_else(|| "\"".to_owned());
        let strict = match given("strict_mode") {
            Some(Literal::Bool(strict)) => *strict,
            _ => !mixes_ends(&text, &quote),
        };
        let mut lines = lines(&text, &quote);
        let mut skip = match given("skip") {
            Some(Literal::Int(skip)) => usize::try_from(*skip).unwrap_or(0),
            _ => 0,
        };
        let is_skip_given = given("skip").is_some();
        let all_lines = lines.clone();
        lines.drain(..skip.min(lines.len()));
        let mut delimiter = text_of("delim").or_else(|| text_of("sep"));
        if let Some(first) = lines.first().filter(|_| !is_skip_given)
            && let Some(rest) = first.strip_prefix("sep=").filter(|rest| rest.chars().count() == 1)
        {
            delimiter = delimiter.or_else(|| Some(rest.to_owned()));
            (skip, lines) = (skip + 1, lines.split_off(1));
        }
        if lines.iter().all(|line| line.trim().is_empty()) {
            return Err("it has no lines with content".to_owned());
        }
        // There may be more comments than rows.
        let rows: Vec<_> = (0..lines.len()).filter(|at| !is_comment(lines[*at])).collect();
        let rows = if rows.is_empty() { (0..lines.len()).collect() } else { rows };
        let delimiter = delimiter.unwrap_or_else(|| {
            delimiter_of(&rows.iter().map(|at| lines[*at]).collect::<Vec<_>>(), &quote)
        });
        let mut escape = text_of("escape");
        let split_by = |quote: &str, escape: Option<&str>| -> Vec<Vec<String>> {
            let fields = |line: &&str| match escape {
                Some("\\") => split(&line.replace("\\\"", "''"), &delimiter, quote),
                _ => split(line, &delimiter, quote),
            };
            lines.iter().map(fields).collect()
        };
        let mut records = split_by(&quote, escape.as_deref());
        let width_of = |records: &[Vec<String>]| usual_width(rows.iter().map(|at| &records[*at]));
        if given("quote").or(given("escape")).is_none() {
            // Tries other quotes if they give all rows as many values as there are names.
            let single = split_by("'", None);
            let are_alike = |all: &[Vec<String>]| {
                all[0].len() > 1 && all.iter().all(|row| row.len() == all[0].len())
            };
            let is_quoted = |row: &Vec<String>| row.iter().any(|field| is_within(field, '\''));
            let are_quoted = records.len() > 1 && records[1..].iter().all(is_quoted);
            let are_odd = width_of(&records) != records[0].len();
            let joins = text.contains('\'') && (are_odd || single[0].len() < records[0].len());
            if are_alike(&single) && (joins || are_quoted) {
                (quote, records) = ("'".to_owned(), single);
            } else if are_odd {
                let escaped = split_by(&quote, Some("\\"));
                if are_alike(&escaped) {
                    (escape, records) = (Some("\\".to_owned()), escaped);
                }
            }
        }
        let escape = escape.unwrap_or_else(|| quote.clone());
        let width = width_of(&records);
        let names = match given("names") {
            Some(Literal::List(names)) => {
                Some(names.iter().filter_map(Literal::as_text).map(str::to_owned).collect())
            }
            _ => None,
        };
        let first = match is_skip_given {
            true => (0..lines.len()).find(|at| !lines[*at].trim().is_empty()).unwrap_or(0),
            false => first_line(&lines, &records, width),
        };
        let header_differs = differs(&records[first..]);
        let header = match given("header") {
            Some(Literal::Bool(header)) => *header && names.is_none(),
            _ if names.is_some() => false,
            _ => header_differs || !is_values(&records[first]) && !is_alike(&records[first..]),
        };
        let mut rows_at = first + usize::from(header);
        if header && !is_skip_given {
            rows_at += units(&records[rows_at..], width);
        }
        let is_plain = header && skip == 0 && first == 0 && rows_at == 1;
        let repeated = match header && names.is_none() {
            true => repeated(&records[first]),
            false => Vec::new(),
        };
        let names = match names {
            Some(names) => names,
            None if header => named(&records[first], &records[rows_at..], width),
            None => (0..width).map(|place| format!("column{place}")).collect(),
        };
        let rows_at = rows_at.min(lines.len());
        let body = &lines[rows_at..];
        let comments = given("comment").is_none()
            && body.iter().any(|line| line.starts_with('#'))
            && body.iter().all(|line| !line.trim_start_matches('#').contains('#'));
        let skip = skip + rows_at;
        let comment = text_of("comment").or_else(|| comments.then(|| "#".to_owned()));
        let is_comment = |line: &&&str| comment.as_ref().is_some_and(|c| line.starts_with(&**c));
        let comments_before = all_lines.iter().take(skip).filter(is_comment).count();
        Ok(Self {
            delimiter,
            quote,
            escape,
            skip,
            header,
            header_differs,
            is_plain,
            names,
            repeated,
            encoding,
            strict,
            comments,
            comment,
            comments_before,
        })
    }

    /// Whether a file is written in the same way, apart from its names.
    pub(super) fn is_written_as(&self, other: &Self) -> bool {
        self.written() == other.written()
    }

    fn written(&self) -> impl PartialEq + '_ {
        let marks = [&self.delimiter, &self.quote, &self.escape];
        (marks, self.skip, self.header, &self.encoding, self.strict, &self.comment)
    }

    /// Returns the options of a reader for such a file, with columns `c0`, `c1` and so on.
    pub(super) fn options(&self, width: usize) -> String {
        let columns: Vec<_> = (0..width).map(|place| format!("'c{place}': 'VARCHAR'")).collect();
        let text = |text: &str| Literal::Text(text.to_owned());
        format!(
            "auto_detect = false, header = false, skip = {}, delim = {}, quote = {}, escape = {}, \
             strict_mode = {}, columns = {{{}}}{}",
            self.skip - self.comments_before,
            text(&self.delimiter),
            text(&self.quote),
            text(&self.escape),
            self.strict,
            columns.join(", "),
            match &self.encoding {
                Some(encoding) => format!(", encoding = {}", text(encoding)),
                None => String::new(),
            }
        )
    }

    /// Returns the options for names and delimiter, each after a comma, by which a query reads such a
    /// file.
    pub(super) fn named_options(&self) -> String {
        let text = |text: &String| Literal::Text(text.clone());
        let head = match self.is_plain {
            true => "header = true".to_owned(),
            false => format!(
                "header = false, skip = {}, names = {}",
                self.skip - self.comments_before,
                Literal::List(self.names.iter().map(text).collect())
            ),
        };
        let delimiter = match self.delimiter.as_bytes() {
            [byte] if byte.is_ascii_control() => format!("chr({byte})"),
            _ => text(&self.delimiter).to_string(),
        };
        format!(", delim = {delimiter}, {head}, all_varchar = true")
    }
}

/// Whether a text begins and ends with a quote.
fn is_within(field: &str, quote: char) -> bool {
    field.len() > 1 && field.starts_with(quote) && field.ends_with(quote)
}
