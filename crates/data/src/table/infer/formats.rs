//! Formats of times that are not RFC 3339.

use embermark_model::table::Literal;

use super::guess::Guess;
use super::names;
use crate::DataError;
use crate::table::select::parsed_time;
use crate::table::source::Source;

/// Dates, with bars between. The month comes before the day only if both are numbers and nothing
/// else is possible.
const DAYS: &str = "\
    %Y-%m-%d|%d.%m.%Y|%d/%m/%Y|%m/%d/%Y|%Y/%m/%d|%d-%m-%Y|%m-%d-%Y|%Y.%m.%d|%d.%m.%y|%d/%m/%y\
    |%m/%d/%y|%y-%m-%d|%d-%m-%y|%m-%d-%y|%y/%m/%d|%y.%m.%d|%d %b %y|%d-%b-%Y|%d %b %Y|%d-%b-%y\
    |%b %d %Y|%b %d, %Y|%B %d, %Y|%d %B %Y|%Y-%b-%d|%d/%b/%Y|%Y%m%d|%Y-%j|%G-W%V-%u|%A, %d. %B %Y\
    |%d. %B %Y";
/// Formats of a time of day that follows a date. The first is empty: a date alone.
const HOURS: &str = "\
    | %H:%M:%S| %H:%M| %H:%M:%S.%f| %I:%M:%S %p| %I:%M %p| %I:%M:%S.%f %p|T%H:%M:%S|T%H:%M\
    |T%H:%M:%S.%f|T%H:%M:%SZ|, %H:%M:%S|, %H:%M| %H:%M:%S %z| %H:%M:%S %Z| %H.%M.%S|_%H-%M-%S\
    |:%H:%M:%S| %H:%M Uhr| %H:%M:%S Uhr";
/// Further formats: months, and times with a fixed order of parts.
const WHOLE: &str = "\
    %Y-%m|%Y/%m|%m/%Y|%b %Y|%B %Y|%Y%m%dT%H%M%SZ|%Y%m%dT%H%M%S|%Y%m%d%H%M%S|%Y%m%d %H%M%S\
    |%a, %d %b %Y %H:%M:%S GMT|%a, %d %b %Y %H:%M:%S %z|%a %b %d %H:%M:%S %Y\
    |%a %b %d %Y %H:%M:%S GMT%z|%d/%b/%Y:%H:%M:%S %z|%Y-%m-%d %H:%M:%S,%g|%d.%m.%Y %H:%M:%S,%g\
    |%A, %B %d, %Y";
/// Formats of a time of day in its own field.
const CLOCKS: [&str; 5] = ["%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S.%f"];
/// Formats of a time of day without separators, and their numbers of digits.
const PACKED_CLOCKS: [(&str, usize); 2] = [("%H%M%S", 6), ("%H%M", 4)];
/// Formats of times without separators, with the least and the greatest number that they are.
const PACKED: [(&str, i64, i64); 3] = [
    ("%Y%m%d", 19_700_101, 21_001_231),
    ("%Y%m%d%H%M", 197_001_010_000, 210_012_312_359),
    ("%Y%m%d%H%M%S", 19_700_101_000_000, 21_001_231_235_959),
];

/// A format of times, in the words of `strptime`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Format {
    pub(super) text: String,
    /// Whether day, month and year could be in another order.
    pub(super) is_doubtful: bool,
}

impl Format {
    /// Whether it has fractions of seconds.
    pub(super) fn is_fine(&self) -> bool {
        self.text.contains("%f") || self.text.contains("%g")
    }

    /// Whether it is of days, without a time of day.
    pub(super) fn is_of_days(&self) -> bool {
        let has = |code: &str| self.text.contains(code);
        !has("%H") && !has("%I") && (has("%d") || has("%j") || has("%u"))
    }

    /// Returns why its texts may not be times, if numbers and codes are often written so.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        match &*self.text {
            "%Y-%j" => Some("a year and one of its days"),
            text if text.contains("%y") => Some("with years of two digits"),
            _ => None,
        }
    }
}

/// Returns the known format of all values of a field, except at most a hundredth, if there is one.
pub(super) fn find(
    source: &Source,
    field: usize,
    guess: &Guess,
) -> Result<Option<Format>, DataError> {
    let is_time = names::is_day(&source.fields()[field].name);
    let all = all().filter(|format| is_time || !may_be_versions(format, guess));
    matching(source, field, guess, &all.collect::<Vec<_>>())
}

/// Returns every known format.
fn all() -> impl Iterator<Item = String> {
    let hours = |day: &'static str| HOURS.split('|').map(move |hours| format!("{day}{hours}"));
    WHOLE.split('|').map(str::to_owned).chain(DAYS.split('|').flat_map(hours))
}

/// Whether texts in this format may be versions or other codes: a number of one digit, and a year
/// of two digits, with points or hyphens between.
fn may_be_versions(format: &str, guess: &Guess) -> bool {
    const LIKE_VERSIONS: [&str; 5] = ["%d.%m.%y", "%y.%m.%d", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d"];
    let has_digit_alone = |text: &str| text.split(['.', '-']).any(|part| part.len() == 1);
    LIKE_VERSIONS.contains(&format) && guess.texts().any(has_digit_alone)
}

/// Whether the numbers of a text have as many digits as those of a format: two or four in a year,
/// three in a day of the year. `strptime` also accepts fewer.
fn has_widths(format: &str, text: &str) -> bool {
    if format.contains("%Y%m") {
        return true;
    }
    let codes = format.split('%').filter_map(|part| part.chars().next());
    let codes = codes.filter(|code| "YyGjmdHIMSVufg".contains(*code));
    let numbers = text.split(|char: char| !char.is_ascii_digit()).filter(|part| !part.is_empty());
    codes.zip(numbers).all(|(code, number)| match code {
        'Y' | 'G' => number.len() == 4,
        'y' => number.len() == 2,
        'j' => number.len() == 3,
        _ => true,
    })
}

/// Whether a text has digits, letters and other characters where a format has them, as `strptime`
/// requires. There are hundreds of formats, and DuckDB takes longer to plan one than to try it.
fn has_shape(format: &str, text: &str) -> bool {
    let (mut codes, mut rest) = (format.chars(), text.trim_ascii_start());
    let mut is_after_digits = false;
    while let Some(code) = codes.next() {
        let is_number_before = std::mem::take(&mut is_after_digits);
        let left = match code {
            ' ' => {
                rest = rest.trim_ascii_start();
                continue;
            }
            '%' => match codes.next() {
                Some('a' | 'A' | 'b' | 'B' | 'p') => {
                    rest.trim_start_matches(|letter: char| letter.is_ascii_alphabetic())
                }
                Some(
                    'd' | 'f' | 'g' | 'G' | 'H' | 'I' | 'j' | 'm' | 'M' | 'S' | 'u' | 'V' | 'y'
                    | 'Y',
                ) => {
                    is_after_digits = true;
                    rest.trim_start_matches(|digit: char| digit.is_ascii_digit())
                }
                // A zone, which may have any of them, is at the end.
                _ => return true,
            },
            literal => rest.strip_prefix(literal).unwrap_or(rest),
        };
        // Numbers without anything between are one.
        if left.len() == rest.len() && !(is_number_before && is_after_digits) {
            return false;
        }
        rest = left;
    }
    rest.trim_ascii_start().is_empty()
}

/// Returns the format of a field with times of day.
pub(super) fn clock(
    source: &Source,
    field: usize,
    guess: &Guess,
) -> Result<Option<Format>, DataError> {
    let is_time = names::is_time(&source.fields()[field].name);
    let has_digits = |digits: usize| {
        let is_packed =
            |text: &str| text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        guess.texts().all(is_packed)
    };
    let packed = PACKED_CLOCKS.iter().filter(|(_, digits)| is_time && has_digits(*digits));
    let all = CLOCKS.into_iter().chain(packed.map(|(format, _)| *format));
    matching(source, field, guess, &all.map(str::to_owned).collect::<Vec<_>>())
}

/// Returns the format of a field of whole numbers such as 20240305, if all of them are times by it.
pub(super) fn packed(
    source: &Source,
    field: usize,
    guess: &Guess,
) -> Result<Option<Format>, DataError> {
    let Some((least, greatest)) = guess.whole_range() else { return Ok(None) };
    let is_within = |(_, first, last): &&(&str, i64, i64)| least >= *first && greatest <= *last;
    let Some((format, first, _)) = PACKED.iter().find(is_within) else { return Ok(None) };
    let counts = source.count(field, |text| {
        let digits = first.to_string().len();
        let numbers = format!("regexp_full_match({text}, '[0-9]{{{digits}}}')");
        format!("count({}), count(*) FILTER ({numbers})", parsed_time(text, format))
    })?;
    let is_all = counts.len() == 2 && counts[0] == counts[1];
    Ok(is_all.then(|| Format { text: (*format).to_owned(), is_doubtful: false }))
}

/// Counts the times 24:00 in a field of times of day, which no format reads.
pub(super) fn count_midnights(source: &Source, field: usize) -> Result<u64, DataError> {
    let counts = source.count(field, |text| format!("count(*) FILTER ({text} LIKE '24:00%')"))?;
    Ok(counts.first().copied().flatten().unwrap_or(0))
}

fn matching(
    source: &Source,
    field: usize,
    guess: &Guess,
    formats: &[String],
) -> Result<Option<Format>, DataError> {
    let texts: Vec<_> = guess.texts().map(|text| Literal::Text(text.to_owned())).collect();
    let has_digits = |text: &Literal| {
        text.as_text().is_some_and(|text| {
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            (3..=25).contains(&digits) && text.len() < 50
        })
    };
    if texts.is_empty() || !texts.iter().all(has_digits) {
        return Ok(None);
    }
    let fits = |format: &&String| {
        guess.texts().all(|text| has_shape(format, text) && has_widths(format, text))
    };
    let formats: Vec<String> = formats.iter().filter(fits).cloned().collect();
    if formats.is_empty() {
        return Ok(None);
    }
    let counted = |formats: &[String], text: &str| {
        let counts = formats.iter().map(|format| format!("count({})", parsed_time(text, format)));
        counts.collect::<Vec<_>>().join(", ")
    };
    // First with a few texts, then with all.
    let sample = format!(
        "SELECT {} FROM (SELECT unnest({}) AS text)",
        counted(&formats, "text"),
        Literal::List(texts.clone())
    );
    let counts = source.texts(&sample)?;
    let all = texts.len().to_string();
    let fit = formats.iter().zip(counts.iter().flatten());
    let fit: Vec<String> = fit
        .filter(|(_, count)| count.as_deref() == Some(&all))
        .map(|(format, _)| format.clone())
        .collect();
    let Some(first) = fit.first() else { return Ok(None) };
    if fit.len() == 1 {
        return Ok(Some(Format { text: first.clone(), is_doubtful: false }));
    }
    let counts = source.count(field, |text| counted(&fit, text))?;
    let most = counts.iter().max();
    let best = fit.iter().zip(&counts).filter(|(_, count)| Some(*count) == most);
    let best: Vec<&String> = best.map(|(format, _)| format).collect();
    // `%b` and `%B` are one part: May is both.
    let first_part = |format: &str| format[..2].to_ascii_lowercase();
    let is_doubtful = best.iter().any(|format| first_part(format) != first_part(best[0]));
    if !is_doubtful {
        return Ok(best.first().map(|format| Format { text: (*format).clone(), is_doubtful }));
    }
    // Twelve-hour clocks are used where the month comes first.
    let is_usual = |format: &&String| format.contains("%p") && format.starts_with("%m");
    let usual = best.iter().position(is_usual).unwrap_or(0);
    let spans = source.count(field, |text| {
        let span = |format: &&String| {
            let time = parsed_time(text, format);
            format!("datediff('second', min({time}), max({time}))")
        };
        best.iter().map(span).collect::<Vec<_>>().join(", ")
    })?;
    // Files are of a few days or years. An order that spreads them over many more is not theirs.
    let spans: Vec<u64> = spans.iter().map(|span| span.unwrap_or(u64::MAX)).collect();
    let shortest = (0..best.len()).min_by_key(|at| spans[*at]).unwrap_or(usual);
    let chosen = if spans[shortest] < spans[usual] / 2 { shortest } else { usual };
    Ok(Some(Format { text: best[chosen].clone(), is_doubtful }))
}

#[cfg(test)]
mod tests {
    use embermark_libraries::duckdb::connection::Connection;
    use embermark_libraries::duckdb::library::LIBRARY;
    use embermark_skips::sampled;

    use super::*;

    /// Tries formats with texts in every format, and with the same in lower case and with more
    /// blanks.
    #[test]
    fn a_text_without_the_shape_of_a_format_is_no_time_by_it() {
        let connection = Connection::open(&LIBRARY.get().unwrap().api, None, &[]).unwrap();
        let clocks = CLOCKS.into_iter().chain(PACKED_CLOCKS.map(|(format, _)| format));
        let formats: Vec<String> = all().chain(clocks.map(str::to_owned)).collect();
        let quoted = |format: &String| Literal::Text(format.clone());
        let written = formats.iter().map(|format| {
            format!("strftime(TIMESTAMP '2024-03-05 16:07:08.25', {})", quoted(format))
        });
        let sql = format!("SELECT {}", written.collect::<Vec<_>>().join(", "));
        let own: Vec<String> =
            connection.texts(&sql).unwrap().into_iter().flatten().flatten().collect();
        assert_eq!(own.len(), formats.len());
        let others = own.iter().flat_map(|text| {
            [text.clone(), text.to_lowercase(), format!(" {} ", text.replace(' ', "  "))]
        });
        let texts: Vec<String> = others.collect();
        for (format, own) in sampled(formats.iter().zip(&own), 16) {
            assert!(
                has_shape(format, own) && has_shape(format, &format!("  {own} ")),
                "{format}: {own}"
            );
            let others = texts.iter().filter(|text| !has_shape(format, text));
            let others: Vec<Literal> = others.cloned().map(Literal::Text).collect();
            assert!(others.len() > formats.len() / 2, "{format} is of the shape of most");
            let sql = format!(
                "SELECT text FROM (SELECT unnest({}) AS text) WHERE try_strptime(text, {}) IS NOT NULL",
                Literal::List(others),
                quoted(format)
            );
            assert_eq!(connection.texts(&sql).unwrap(), Vec::<Vec<_>>::new(), "{format}");
        }
    }

    #[test]
    fn shapes_are_those_of_numbers_letters_and_what_is_between() {
        for (format, text) in [
            ("%Y-%m-%d %H:%M:%S", "2024-03-05  16:07:08"),
            ("%Y%m%d%H%M%S", "20240305160708"),
            ("%Y%m%d %H%M%S", "20240305 160708"),
            ("%a %b %d %H:%M:%S %Y", "Tue Mar  5 16:07:08 2024"),
            ("%d.%m.%Y %H:%M Uhr", "5.3.2024 16:07 Uhr"),
            ("%Y-%m-%d %H:%M:%S %z", "2024-03-05 16:07:08 +01:00"),
            ("%d. %B %Y", "5. march 2024"),
        ] {
            assert!(has_shape(format, text), "{format}: {text}");
        }
        for (format, text) in [
            ("%Y-%m-%d", "2024-03-05 16:07:08"),
            ("%Y-%m-%d %H:%M", "2024-03-05 16:07:08"),
            ("%Y-%m-%d", "2024/03/05"),
            ("%Y-%m-%d", "2024-Mar-05"),
            ("%Y-%b-%d", "2024-03-05"),
            ("%Y-%m-%d", "-2024-03-05"),
            ("%H:%M Uhr", "16:07"),
            ("%d. %B %Y", "5. März 2024"),
        ] {
            assert!(!has_shape(format, text), "{format}: {text}");
        }
    }
}
