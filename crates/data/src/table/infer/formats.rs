//! Formats of times that are not RFC 3339.

use embermark_model::table::Literal;

use super::guess::Guess;
use crate::DataError;
use crate::table::select::parsed_time;
use crate::table::source::Source;

/// Dates. The month comes before the day only if both are numbers and nothing else is possible.
const DAYS: [&str; 31] = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y.%m.%d",
    "%d.%m.%y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%y-%m-%d",
    "%d-%m-%y",
    "%m-%d-%y",
    "%y/%m/%d",
    "%y.%m.%d",
    "%d %b %y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d-%b-%y",
    "%b %d %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %B %Y",
    "%Y-%b-%d",
    "%d/%b/%Y",
    "%Y%m%d",
    "%Y-%j",
    "%G-W%V-%u",
    "%A, %d. %B %Y",
    "%d. %B %Y",
];
/// Formats of a time of day that follows a date.
const HOURS: [&str; 20] = [
    "",
    " %H:%M:%S",
    " %H:%M",
    " %H:%M:%S.%f",
    " %I:%M:%S %p",
    " %I:%M %p",
    " %I:%M:%S.%f %p",
    "T%H:%M:%S",
    "T%H:%M",
    "T%H:%M:%S.%f",
    "T%H:%M:%SZ",
    ", %H:%M:%S",
    ", %H:%M",
    " %H:%M:%S %z",
    " %H:%M:%S %Z",
    " %H.%M.%S",
    "_%H-%M-%S",
    ":%H:%M:%S",
    " %H:%M Uhr",
    " %H:%M:%S Uhr",
];
/// Further formats.
const WHOLE: [&str; 12] = [
    "%Y%m%dT%H%M%SZ",
    "%Y%m%dT%H%M%S",
    "%Y%m%d%H%M%S",
    "%Y%m%d %H%M%S",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %Y %H:%M:%S GMT%z",
    "%d/%b/%Y:%H:%M:%S %z",
    "%Y-%m-%d %H:%M:%S,%g",
    "%d.%m.%Y %H:%M:%S,%g",
    "%A, %B %d, %Y",
];
/// Formats of a time of day in its own field.
const CLOCKS: [&str; 5] = ["%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p", "%H:%M:%S.%f"];

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

    pub(super) fn has_hours(&self) -> bool {
        self.text.contains("%H") || self.text.contains("%I")
    }
}

/// Returns the known format of all values of a field, except at most a hundredth, if there is one.
pub(super) fn find(
    source: &Source,
    field: usize,
    guess: &Guess,
) -> Result<Option<Format>, DataError> {
    let days = DAYS.iter().flat_map(|day| HOURS.iter().map(move |hours| format!("{day}{hours}")));
    let all: Vec<String> = WHOLE.iter().map(|format| (*format).to_owned()).chain(days).collect();
    matching(source, field, guess, &all)
}

/// Returns the format of a field with times of day.
pub(super) fn clock(
    source: &Source,
    field: usize,
    guess: &Guess,
) -> Result<Option<Format>, DataError> {
    let all: Vec<String> = CLOCKS.iter().map(|format| (*format).to_owned()).collect();
    matching(source, field, guess, &all)
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
    let counted = |formats: &[String], text: &str| {
        let counts = formats.iter().map(|format| format!("count({})", parsed_time(text, format)));
        counts.collect::<Vec<_>>().join(", ")
    };
    // First with a few texts, then with all.
    let sample = format!(
        "SELECT {} FROM (SELECT unnest({}) AS text)",
        counted(formats, "text"),
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
    let counts = source.count(field, |text| counted(&fit, &format!("trim({text})")))?;
    let counts: Vec<u64> = counts.iter().map(|count| count.parse().unwrap_or(0)).collect();
    let most = counts.iter().max().copied().unwrap_or(0);
    let best = fit.iter().zip(&counts).filter(|(_, count)| **count == most);
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
        let text = format!("trim({text})");
        let span = |format: &&String| {
            let time = parsed_time(&text, format);
            format!("datediff('second', min({time}), max({time}))")
        };
        best.iter().map(span).collect::<Vec<_>>().join(", ")
    })?;
    // Files are of a few days or years. An order that spreads them over many more is not theirs.
    let spans: Vec<u64> = spans.iter().map(|span| span.parse().unwrap_or(u64::MAX)).collect();
    let shortest = (0..best.len()).min_by_key(|at| spans[*at]).unwrap_or(usual);
    let chosen = if spans[shortest] < spans[usual] / 2 { shortest } else { usual };
    Ok(Some(Format { text: best[chosen].clone(), is_doubtful }))
}
