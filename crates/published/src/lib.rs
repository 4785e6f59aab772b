//! The published comparisons that embermark repeats.
//!
//! A [`Source`] is one of them. Its [`Piece`]s repeat it, each with a plan. Its [`Headline`]s name
//! the pieces whose results are shown next to them. Its [`Figures`] are what it printed. All of it is
//! data in `sources/`, with one file per source.

mod figures;
mod headline;
mod piece;
mod source;

pub use figures::{FORM, Figures, PhaseFigure, UsageRow};
pub use headline::{Evidence, Figure, FigureSource, Headline, Measure, Printed, Unit};
pub use piece::{Piece, Role};
pub use source::{Source, Statistic, Verdict, all, find};
