//! The published comparisons that embermark repeats.
//!
//! A [`Source`] is one of them: the [`Piece`]s that repeat it, each a plan, and its [`Headline`]s, each with
//! the pieces whose results stand beside it. All of it is data, in `sources/`, one file a source.

mod headline;
mod piece;
mod source;
mod statistic;
mod verdict;

pub use headline::{Beside, Evidence, Figure, Headline, Measure, Printed, Unit};
pub use piece::{Piece, Role};
pub use source::{Source, all, find};
pub use statistic::Statistic;
pub use verdict::Verdict;
