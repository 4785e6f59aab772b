//! Tables of a report as texts in rows and columns, without a layout. The terminal, Markdown and
//! the page all show them.

mod client_machines;
mod heading;
mod tables;

pub(crate) use heading::{absence, engine_heading, subtitle, title};
pub(crate) use tables::{group_tables, label, lead, marks};

use embermark_model::Status;
use serde::Serialize;

use crate::format::NOT_MEASURED;
use crate::note::Note;
use crate::summary::Group;

/// The best of its row.
pub(crate) const BEST: &str = "*";
/// No significant difference to the best of its row.
pub(crate) const NOT_SIGNIFICANT: &str = "≈";
/// A trial is an outlier.
pub(crate) const OUTLIER: &str = "°";
/// Not everything was done: stopped at the cap or, for resources, some phases are missing.
pub(crate) const STOPPED: &str = "^";
/// Did not keep up: lost samples, missed reads, or did not achieve its rate.
pub(crate) const BEHIND: &str = "<";
/// Done by code in the client.
pub(crate) const CLIENT_SIDE: &str = "~";
/// Each row is a commit, while others insert many rows in one transaction.
pub(crate) const COMMITS_EACH: &str = "¹";
/// The phase ended well, but its cell did not.
pub(crate) const TAINTED: &str = "!";
/// A trial of the cell was lost.
pub(crate) const LOST: &str = "×";
/// Unusual: grows or lags more than can be believed without an explanation.
pub(crate) const SURPRISE: &str = "?";
/// Keeps more than the tier asks.
pub(crate) const STRONGER: &str = "+";
/// Keeps less than the tier asks.
pub(crate) const WEAKER: &str = "(weaker)";
/// A configuration: the user's settings, with the durability that their author claims.
pub(crate) const OWN_SETTINGS: &str = "§";
/// A configuration whose settings are not the tier's.
pub(crate) const OWN_DURABILITY: &str = "(own)";
/// Broke the promise of its tier in the tests of `embermark durability`.
pub(crate) const BROKEN: &str = "†";
/// Shown and never ranked.
pub(crate) const REFERENCE: &str = "(ref)";
/// A server that was given by its URL.
pub(crate) const BY_URL: &str = "(by URL)";
/// Follows the phase of a row whose times are per operation.
pub(crate) const PER_OPERATION: &str = "/op";

/// One table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Grid {
    /// Title.
    pub title: String,
    /// Headings of all columns but the first.
    pub header: Vec<String>,
    /// Label and texts of each row.
    pub rows: Vec<(String, Vec<Text>)>,
}

impl Grid {
    /// Makes a table. `header` has the headings of all columns but the first.
    pub(crate) fn new(
        title: impl Into<String>,
        header: impl IntoIterator<Item = impl Into<String>>,
        rows: Vec<(String, Vec<Text>)>,
    ) -> Self {
        Self { title: title.into(), header: header.into_iter().map(Into::into).collect(), rows }
    }

    /// Returns the table if it has rows.
    pub(crate) fn filled(self) -> Option<Self> {
        (!self.rows.is_empty()).then_some(self)
    }
}

/// A table with its notes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Annotated {
    /// The table. It has no rows if there are only notes.
    #[serde(flatten)]
    pub grid: Grid,
    /// Notes below the table.
    pub notes: Vec<Note>,
}

/// One box of a table. The parts of the boxes of a column are aligned.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Text {
    /// A time, a size, or a word.
    pub value: String,
    /// Marks explained in the notes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub marks: String,
    /// A second figure: the ratio.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub second: String,
    /// The second figure as a number, for a chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The mark of the best, which follows the second figure.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub best: &'static str,
    /// Colour.
    #[serde(skip)]
    pub tone: Tone,
}

/// Meaning of a text's colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// No meaning.
    #[default]
    Plain,
    /// The best.
    Best,
    /// Out of the comparison.
    Dim,
    /// A caveat.
    Warning,
    /// Something went wrong.
    Bad,
}

impl Text {
    /// Makes a text of only a value.
    pub(crate) fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), ..Self::default() }
    }

    /// Makes a coloured text of only a value.
    pub(crate) fn toned(value: impl Into<String>, tone: Tone) -> Self {
        Self { tone, ..Self::new(value) }
    }

    /// Makes the text of a figure that was not measured.
    pub(crate) fn dash() -> Self {
        Self::new(NOT_MEASURED)
    }

    /// Makes the text of work that ended without a figure.
    pub(crate) fn ended(status: Status) -> Self {
        Self::toned(status.name(), if status.is_failure() { Tone::Bad } else { Tone::Dim })
    }

    /// Returns all parts on one line.
    pub(crate) fn line(&self) -> String {
        let Self { value, marks, second, best, .. } = self;
        format!("{value}{marks} {second}{best}").trim_end().to_owned()
    }
}

/// Returns the indexes in `group.engines` of the engines with a column. An engine that could not
/// take part at all is named above the table and has no column.
pub(crate) fn columns(group: &Group<'_>) -> Vec<usize> {
    (0..group.engines.len()).filter(|engine| absence(group, *engine).is_none()).collect()
}
