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
    let hours = |day: &'static str| HOURS.split('|').map(move |hours| format!("{day}{hours}"));
    let all = WHOLE.split('|').map(str::to_owned).chain(DAYS.split('|').flat_map(hours));
    let is_time = names::is_day(&source.fields()[field].name);
    let all = all.filter(|format| is_time || !may_be_versions(format, guess));
    matching(source, field, guess, &all.collect::<Vec<_>>())
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
    let is_wide = |format: &&String| guess.texts().all(|text| has_widths(format, text));
    let formats: Vec<String> = formats.iter().filter(is_wide).cloned().collect();
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
