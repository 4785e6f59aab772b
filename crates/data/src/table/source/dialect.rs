//! How a file of delimited text is written, told by its beginning.

use embermark_model::table::Literal;

use super::super::absent::is_marker;
use super::super::time;

/// Lines that are looked at.
const LINES: usize = 500;
/// Lines that a quoted text may have here.
const QUOTED: usize = 20;
/// Delimiters, those first that are rarely a part of values.
const DELIMITERS: [char; 6] = [';', '\t', '|', '\u{1}', ',', ' '];
/// Options that say how the text is written, which are not handed on as they are.
pub(super) const OPTIONS: [&str; 9] =
    ["delim", "sep", "quote", "escape", "header", "skip", "names", "encoding", "strict_mode"];

/// How a file of delimited text is written.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::table) struct Dialect {
    pub(in crate::table) delimiter: String,
    pub(in crate::table) quote: String,
    pub(in crate::table) escape: String,
    /// Lines before the first row, a quoted text over several of them counted as one.
    pub(in crate::table) skip: usize,
    /// Whether one of them has the names.
    pub(in crate::table) header: bool,
    /// Whether its values are of another kind than those of the rows.
    pub(in crate::table) is_told: bool,
    /// Whether the names are the last of them, and no more lines than one.
    pub(in crate::table) is_plain: bool,
    pub(in crate::table) names: Vec<String>,
    /// As DuckDB calls it; none of UTF-8.
    pub(in crate::table) encoding: Option<String>,
    /// Whether lines end in one way.
    pub(in crate::table) strict: bool,
    /// Whether lines that begin with `#` lie among the rows, and no row has one.
    pub(in crate::table) comments: bool,
}

impl Dialect {
    /// Tells how a file is written by its beginning, as far as `read` does not say so. Where it `guesses`,
    /// bytes that are not UTF-8 are told for Latin-1.
    pub(super) fn of(
        head: &[u8],
        read: &[(String, Literal)],
        guesses: bool,
    ) -> Result<Self, String> {
        let given = |name: &str| read.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let text_of = |name| given(name).and_then(Literal::as_text).map(str::to_owned);
        if head.starts_with(b"\xff\xfe\0\0") || head.starts_with(b"\0\0\xfe\xff") {
            return Err("it is UTF-32: convert it with `iconv -f UTF-32 -t UTF-8`".to_owned());
        }
        if head.starts_with(b"\xfe\xff") || zeros(head) == Some(0) {
            return Err("it is UTF-16 with the high byte first: convert it with `iconv -f UTF-16 -t UTF-8`, or \
                        `-f UTF-16BE` where it has no mark"
                .to_owned());
        }
        let encoding = text_of("encoding").or_else(|| encoding(head, guesses).map(str::to_owned));
        let text = decoded(head, encoding.as_deref());
        let strict = match given("strict_mode") {
            Some(Literal::Bool(strict)) => *strict,
            _ => !mixes_ends(&text),
        };
        let mut quote = text_of("quote").unwrap_or_else(|| "\"".to_owned());
        let mut lines = lines(&text, &quote);
        let mut skip = match given("skip") {
            Some(Literal::Int(skip)) => usize::try_from(*skip).unwrap_or(0),
            _ => 0,
        };
        let is_skip_given = given("skip").is_some();
        lines.drain(..skip.min(lines.len()));
        let mut delimiter = text_of("delim").or_else(|| text_of("sep"));
        if let Some(first) = lines.first().filter(|_| !is_skip_given)
            && let Some(rest) = first.strip_prefix("sep=").filter(|rest| rest.chars().count() == 1)
        {
            delimiter = delimiter.or_else(|| Some(rest.to_owned()));
            (skip, lines) = (skip + 1, lines.split_off(1));
        }
        if lines.iter().all(|line| line.trim().is_empty()) {
            return Err("it has no lines".to_owned());
        }
        // Comments may be more than rows.
        let is_comment = |at: usize| lines[at].trim_start().starts_with('#');
        let rows: Vec<_> = (0..lines.len()).filter(|at| !is_comment(*at)).collect();
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
            // Quotes of another kind, where they give all rows as many values as there are names.
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
        // What stands before the rows: blank lines, comments, lines of another number of fields.
        let names = match given("names") {
            Some(Literal::List(names)) => {
                Some(names.iter().filter_map(Literal::as_text).map(str::to_owned).collect())
            }
            _ => None,
        };
        let is_row = |at: usize| records[at].len() == width && !lines[at].trim().is_empty();
        let first = match is_skip_given {
            true => (0..lines.len()).find(|at| !lines[*at].trim().is_empty()).unwrap_or(0),
            false => {
                let row = (0..lines.len()).find(|at| is_row(*at) && !is_comment(*at)).unwrap_or(0);
                let row = row + titles(&records[row..]);
                let before = row.checked_sub(1);
                // A header may lack the name of the first column, as R writes it, or be a comment.
                let lacks_one = |at: usize| records[at].len() + 1 == width && width > 2;
                // Or end with a delimiter, as the rows do not.
                let has_end = |at: usize| {
                    records[at].split_last().is_some_and(|(last, names)| {
                        last.trim().is_empty() && names.len() == width && !is_values(names)
                    })
                };
                let is_hidden = |at: usize| {
                    is_comment(at)
                        && records[at].len() == width
                        && width > 1
                        && is_values(&records[row])
                };
                before.filter(|at| lacks_one(*at) || has_end(*at) || is_hidden(*at)).unwrap_or(row)
            }
        };
        let is_told = differs(&records[first..]);
        let header = match given("header") {
            Some(Literal::Bool(header)) => *header && names.is_none(),
            _ => names.is_none() && (is_told || !is_values(&records[first])),
        };
        let mut rows_at = first + usize::from(header);
        if header && !is_skip_given {
            rows_at += units(&records[rows_at..], width);
        }
        let is_plain = header && skip == 0 && first == 0 && rows_at == 1;
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
        Ok(Self {
            delimiter,
            quote,
            escape,
            skip,
            header,
            is_told,
            is_plain,
            names,
            encoding,
            strict,
            comments,
        })
    }

    /// The options of a reader that reads such a file, with columns `c0`, `c1` and so on.
    pub(super) fn options(&self, width: usize) -> String {
        let columns: Vec<_> = (0..width).map(|place| format!("'c{place}': 'VARCHAR'")).collect();
        let text = |text: &str| Literal::Text(text.to_owned());
        format!(
            "auto_detect = false, header = false, skip = {}, delim = {}, quote = {}, escape = {}, \
             strict_mode = {}, columns = {{{}}}{}",
            self.skip,
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
}

/// The encoding of a text that is not UTF-8.
fn encoding(head: &[u8], guesses: bool) -> Option<&'static str> {
    if head.starts_with(b"\xff\xfe") || zeros(head) == Some(1) {
        return Some("utf-16");
    }
    // With a character of UTF-8 beside them they are damage.
    let (mut valid, mut invalid) = (false, false);
    for chunk in head.utf8_chunks() {
        valid |= !chunk.valid().is_ascii();
        // The end may be within a character.
        invalid |= !chunk.invalid().is_empty()
            && head.as_ptr_range().end != chunk.invalid().as_ptr_range().end;
    }
    (guesses && invalid && !valid).then_some("latin-1")
}

/// Which byte of each of the first pairs is zero, and no other, as in UTF-16.
fn zeros(head: &[u8]) -> Option<usize> {
    let pairs = &head[..head.len().min(64) / 2 * 2];
    let is_zero = |place: usize| {
        pairs.len() > 8 && pairs.chunks(2).all(|pair| pair[place] == 0 && pair[1 - place] != 0)
    };
    [0, 1].into_iter().find(|place| is_zero(*place))
}

fn decoded(head: &[u8], encoding: Option<&str>) -> String {
    match encoding {
        Some("utf-16") => {
            let text = head.strip_prefix(b"\xff\xfe").unwrap_or(head);
            let units = text.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            String::from_utf16_lossy(&units.collect::<Vec<_>>())
        }
        Some("latin-1") => head.iter().map(|byte| char::from(*byte)).collect(),
        _ => {
            let text = String::from_utf8_lossy(head);
            text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
        }
    }
}

/// The first lines, without one that the end of the head cuts; a quoted text may go over several.
fn lines<'a>(text: &'a str, quote: &str) -> Vec<&'a str> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let mut ends: Vec<usize> = text.match_indices(end).map(|(at, _)| at).collect();
    if ends.len() < 2 {
        // A last line without an end counts where there are no others.
        ends.push(text.len());
    }
    let quote = quote.chars().next();
    let is_open = |line: &str| quote.is_some_and(|quote| is_open(line, quote, false));
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while at < ends.len() && lines.len() < LINES {
        // Where it does not close soon it is no quote.
        let closed = (at..ends.len().min(at + QUOTED)).find(|at| !is_open(&text[start..ends[*at]]));
        let last = closed.unwrap_or(at);
        lines.push(text[start..ends[last]].trim_end_matches('\r'));
        (start, at) = ((ends[last] + 1).min(text.len()), last + 1);
    }
    lines
}

/// Whether a quote is open at the end of a line, which opens at the beginning of a field, or was before.
pub(super) fn is_open(line: &str, quote: char, mut open: bool) -> bool {
    let mut before = DELIMITERS[0];
    for char in line.chars() {
        // One that is doubled closes, and opens again.
        let begins = before == quote || before.is_whitespace() || DELIMITERS.contains(&before);
        open ^= char == quote && (open || begins);
        before = char;
    }
    open
}

/// Whether a text begins and ends with a quote.
fn is_within(field: &str, quote: char) -> bool {
    field.len() > 1 && field.starts_with(quote) && field.ends_with(quote)
}

/// How many of the first records are titles: mostly empty, without a value, and names follow.
fn titles(records: &[Vec<String>]) -> usize {
    let is_title = |record: &&Vec<String>| {
        let filled = record.iter().filter(|field| !field.trim().is_empty()).count();
        2 * filled < record.len() && !is_values(record)
    };
    let count = records.iter().take(10).take_while(is_title).count();
    let names = records.get(count).is_some_and(|names| !is_values(names));
    if names { count } else { 0 }
}

/// Whether lines end in more than one way.
fn mixes_ends(text: &str) -> bool {
    let bytes = text.as_bytes();
    let feeds = bytes.iter().filter(|byte| **byte == b'\n').count();
    let both = bytes.windows(2).filter(|pair| *pair == b"\r\n").count();
    let returns = bytes.iter().filter(|byte| **byte == b'\r').count();
    // The last byte may be the first of two.
    let ends = returns - usize::from(bytes.last() == Some(&b'\r'));
    both > 0 && both < feeds || ends > both && feeds > 0
}

/// The fields of a line.
fn split(line: &str, delimiter: &str, quote: &str) -> Vec<String> {
    let quote = quote.chars().next();
    let (mut fields, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        if !quoted && rest.starts_with(delimiter) {
            fields.push(std::mem::take(&mut field));
            rest = &rest[delimiter.len()..];
            continue;
        }
        rest = &rest[char.len_utf8()..];
        if Some(char) != quote {
            field.push(char);
        } else if quoted && rest.chars().next() == quote {
            field.push(char);
            rest = &rest[char.len_utf8()..];
        } else if quoted || field.trim().is_empty() {
            quoted = !quoted;
        } else {
            field.push(char);
        }
    }
    fields.push(field);
    fields
}

/// The number of fields that most lines have; of equal ones the greater.
fn usual_width<'a>(records: impl Iterator<Item = &'a Vec<String>>) -> usize {
    let filled = records.filter(|record| !matches!(&record[..], [one] if one.trim().is_empty()));
    let mut counts = std::collections::BTreeMap::new();
    for record in filled {
        *counts.entry(record.len()).or_insert(0_usize) += 1;
    }
    counts.into_iter().max_by_key(|(width, count)| (*count, *width)).map_or(1, |(width, _)| width)
}

/// The delimiter by which most lines have the same number of fields, more than one.
fn delimiter_of(lines: &[&str], quote: &str) -> String {
    let score = |delimiter: &char| {
        let delimiter = delimiter.to_string();
        let records: Vec<_> = lines.iter().map(|line| split(line, &delimiter, quote)).collect();
        let width = usual_width(records.iter());
        if width < 2 { 0 } else { records.iter().filter(|record| record.len() == width).count() }
    };
    let is_whole = |delimiter: &str| {
        lines.first().is_some_and(|names| split(names, delimiter, quote).len() > 1)
    };
    // Of equal ones the first; a blank only where there is nothing else, and the first line has it.
    let scores = DELIMITERS.map(|delimiter| score(&delimiter));
    let best = scores[..5].iter().max().copied().unwrap_or(0);
    match scores.iter().position(|score| *score == best) {
        Some(place) if best > 0 => DELIMITERS[place].to_string(),
        _ if scores[5] * 10 > lines.len() * 9 && is_whole(" ") => " ".to_owned(),
        _ => ",".to_owned(),
    }
}

/// Whether the first of these records has values of another kind than the others: texts over numbers or
/// times, times over numbers, numbers that count on where those of the others do not.
fn differs(records: &[Vec<String>]) -> bool {
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
    (0..first.len()).any(differs) || counts_on(first) && !rest.iter().any(|row| counts_on(row))
}

/// Whether a record has numbers of which each is greater by one than that before, as years that are names.
fn counts_on(record: &[String]) -> bool {
    let numbers: Vec<i64> = record.iter().filter_map(|field| field.trim().parse().ok()).collect();
    numbers.len() > 2 && numbers.windows(2).all(|pair| pair[1].checked_sub(1) == Some(pair[0]))
}

/// Whether one of the fields is a number or a time.
fn is_values(record: &[String]) -> bool {
    record.iter().any(|field| is_number(field) || is_time(field))
}

/// Lines after the names that are no rows, as those of units.
fn units(records: &[Vec<String>], width: usize) -> usize {
    let rows: Vec<_> = records.iter().filter(|row| row.len() == width).collect();
    if rows.len() < 8 {
        return 0;
    }
    let numeric = |place: usize| {
        let of = rows.iter().skip(4).filter(|row| is_number(&row[place]) || is_time(&row[place]));
        10 * of.count() >= 9 * rows.len().saturating_sub(4)
    };
    let numeric: Vec<_> = (0..width).filter(|place| numeric(*place)).collect();
    let fields = |record: &'_ Vec<String>| -> Vec<String> {
        numeric.iter().filter_map(|place| record.get(*place)).cloned().collect()
    };
    let is_units = |record: &&Vec<String>| {
        let fields = fields(record);
        record.len() == width
            && !fields.iter().any(|field| is_number(field) || is_time(field))
            && fields.iter().any(|field| !field.trim().is_empty() && !is_marker(field))
    };
    records.iter().take(4).take_while(is_units).count()
}

/// Names of columns, each another: those of a record, and for what has none its place. Where they lack one,
/// it is that of the number of the row, or of nothing where the rows end with a delimiter.
fn named(record: &[String], rows: &[Vec<String>], width: usize) -> Vec<String> {
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

fn is_number(field: &str) -> bool {
    let field = field.trim();
    let numeric = |byte: &u8| byte.is_ascii_digit();
    field.bytes().any(|byte| numeric(&byte))
        && fast_float2::parse::<f64, _>(field.replacen(',', ".", 1)).is_ok()
}

fn is_time(field: &str) -> bool {
    let field = field.trim();
    let marks = field.bytes().filter(|byte| matches!(byte, b'-' | b'/' | b'.' | b':')).count();
    let digits = field.bytes().filter(u8::is_ascii_digit).count();
    time::parse(field.as_bytes()).is_some() || marks >= 2 && digits >= 6 && field.len() < 40
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Dialect {
        Dialect::of(text.as_bytes(), &[], true).unwrap()
    }

    #[test]
    fn delimiter_and_names_are_those_by_which_lines_are_alike() {
        let plain = of("a,b\n1,2\n3,4\n");
        assert_eq!((&*plain.delimiter, plain.skip, plain.is_plain), (",", 1, true));
        assert_eq!(plain.names, ["a", "b"]);
        assert_eq!(of("a;b\n1,5;2,5\n3,5;4,5\n").delimiter, ";");
        assert_eq!(of("a\tb\n1\tx y\n2\tx y\n").delimiter, "\t");
        assert_eq!(of("a b\n1 2\n3 4\n").delimiter, " ");
        assert_eq!(of("text\nhello, world\nbye\nx\n").delimiter, ",");
        let quoted = of("a|\"b|c\"\n1|\"x|y\"\n");
        assert_eq!((&*quoted.delimiter, &quoted.names[..]), ("|", &["a".into(), "b|c".into()][..]));
        assert_eq!(of("a,,a\n1,2,3\n").names, ["a", "column1", "a_1"]);
        assert_eq!(
            of("\"x\",\"y\"\n\"1\",2,3\n\"2\",3,4\n\"3\",4,5\n").names,
            ["row_name", "x", "y"]
        );
    }

    #[test]
    fn what_stands_before_the_rows_is_skipped() {
        let comments = of("# device\n#\ntime,v\n2024-01-01,1\n2024-01-02,2\n");
        assert_eq!((comments.skip, &comments.names[..]), (3, &["time".into(), "v".into()][..]));
        assert_eq!(of("#time,v\n2024-01-01,1\n2024-01-02,2\n").names, ["time", "v"]);
        assert_eq!(of("Title;;\n;;\na;b;c\n1;2;3\n").names, ["a", "b", "c"]);
        let quoted = of("a,b\n1,\"x\ny\"\n2,\"z\n\nq\"\n");
        assert_eq!((quoted.skip, quoted.names.len()), (1, 2));
        let sep = of("sep=;\nt;v\n1;2\n");
        assert_eq!((sep.skip, &*sep.delimiter, sep.is_plain), (2, ";", false));
        let none = of("2024-01-01,1\n2024-01-02,2\n");
        assert_eq!(
            (none.skip, none.header, &none.names[..]),
            (0, false, &["column0".into(), "column1".into()][..])
        );
        let mut units = "t,v\ns,degC\n".to_owned();
        (0..20).for_each(|row| units += &format!("{row},{row}.5\n"));
        assert_eq!((of(&units).skip, of(&units).is_plain), (2, false));
    }

    #[test]
    fn a_row_with_a_word_for_no_value_is_no_line_of_names() {
        // Nor is one of numbers whose signs a time could have, too.
        for first in ["1.5,NaN,0.5", "-1.284650e-05,0.5,0.5"] {
            let dialect = of(&format!("{first}\n2.5,0.25,0.5\n3.5,0.5,0.5\n"));
            assert_eq!((dialect.header, dialect.skip, dialect.is_told), (false, 0, false));
        }
    }

    #[test]
    fn encodings_and_ends_of_lines_are_told() {
        assert_eq!(Dialect::of(b"caf\xe9,b\n1,2\n", &[], true).unwrap().names[0], "café");
        let wide: Vec<u8> = "a;b\n1;2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide = Dialect::of(&[&b"\xff\xfe"[..], &wide].concat(), &[], false).unwrap();
        assert_eq!((wide.encoding.as_deref(), &*wide.delimiter), (Some("utf-16"), ";"));
        assert!(of("a,b\r\n1,2\r\n").strict && !of("a,b\n1,2\r\n3,4\r\n").strict);
    }

    #[test]
    fn options_that_are_given_are_taken() {
        let read = [
            ("skip".to_owned(), Literal::Int(2)),
            ("names".to_owned(), Literal::List(vec![Literal::Text("x".to_owned())])),
        ];
        let dialect = Dialect::of(b"junk\nh\n1\n2\n", &read, true).unwrap();
        assert_eq!((dialect.skip, &dialect.names[..]), (2, &["x".to_owned()][..]));
    }
}
