//! The tables of a report as texts in rows and columns, before anything is laid out: what the
//! terminal, Markdown and the page show alike.

mod client_machines;
mod heading;
mod tables;

pub(crate) use heading::{absence, engine_heading, subtitle, target_rate, title};
pub(crate) use tables::{label, lead, marks, of};

use serde::Serialize;

use crate::note::Note;
use crate::summary::Group;

/// The best of its row.
pub(crate) const BEST: &str = "*";
/// No difference to the best of its row is shown.
pub(crate) const NOT_SIGNIFICANT: &str = "≈";
/// A trial stands apart from the others.
pub(crate) const OUTLIER: &str = "°";
/// Not everything was done: stopped at the cap or, for resources, phases missing.
pub(crate) const STOPPED: &str = "^";
/// Did not keep up: lost samples, missed reads, or did not achieve its rate.
pub(crate) const BEHIND: &str = "<";
/// Done by code in the client.
pub(crate) const CLIENT_SIDE: &str = "~";
/// Rows committed one by one where others put many in a transaction.
pub(crate) const COMMITS_EACH: &str = "¹";
/// The cell did not end well, this phase did.
pub(crate) const TAINTED: &str = "!";
/// A trial of the cell was lost.
pub(crate) const LOST: &str = "×";
/// Stands out: grows or lags more than can be believed unseen.
pub(crate) const SURPRISE: &str = "?";
/// Keeps more than the tier asks.
pub(crate) const STRONGER: &str = "+";
/// Keeps less than the tier asks.
pub(crate) const WEAKER: &str = "(weaker)";
/// A configuration: settings of the user's, durability as its author claims.
pub(crate) const OWN_SETTINGS: &str = "§";
/// A configuration whose settings are not the tier's.
pub(crate) const OWN_DURABILITY: &str = "(own)";
/// Broke what the tier promises, as `embermark durability` tried it.
pub(crate) const BROKEN: &str = "†";
/// Shown and never ranked.
pub(crate) const REFERENCE: &str = "(ref)";
/// A server that was given by its URL.
pub(crate) const BY_URL: &str = "(by URL)";
/// After the phase of a row whose times are per operation.
pub(crate) const PER_OPERATION: &str = "/op";

/// One table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// Over the columns but the first.
    pub header: Vec<String>,
    /// Label and texts of each row.
    pub rows: Vec<(String, Vec<Text>)>,
}

/// A table, and what has to be known of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Annotated {
    /// The table; it may have no rows, where there is only something to say.
    #[serde(flatten)]
    pub grid: Grid,
    /// What to know.
    pub notes: Vec<Note>,
}

/// One box of a table. Its parts are aligned one under the other.
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
    /// The second figure as a number, where a chart draws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// After it, the mark of the best.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub best: &'static str,
    /// How it is coloured.
    #[serde(skip)]
    pub tone: Tone,
}

/// What a text's colour says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// The best.
    Best,
    /// Out of the comparison.
    Dim,
    /// Something is to be known.
    Warning,
    /// Something went wrong.
    Bad,
}

impl Text {
    /// A value alone.
    pub(crate) fn of(value: impl Into<String>) -> Self {
        Self { value: value.into(), ..Self::default() }
    }

    /// The same in a colour.
    pub(crate) fn toned(value: impl Into<String>, tone: Tone) -> Self {
        Self { tone, ..Self::of(value) }
    }

    /// Everything of it on one line.
    pub(crate) fn line(&self) -> String {
        let Self { value, marks, second, best, .. } = self;
        format!("{value}{marks} {second}{best}").trim_end().to_owned()
    }
}

/// Places in `group.engines` of those that have a column. An engine that could not take part at
/// all is named above the table and leaves its column to the others.
pub(crate) fn columns(group: &Group<'_>) -> Vec<usize> {
    (0..group.engines.len()).filter(|engine| absence(group, *engine).is_none()).collect()
}
