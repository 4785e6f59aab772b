//! The settings of an engine that are best for a work and keep its tier, found by measuring.
//!
//! [`search`] begins at today's settings and tries the candidates that the engine's adapter names. Each is measured in
//! turns with today's settings, and half of them leave after every round (successive halving: K. Jamieson and
//! A. Talwalkar, AISTATS 2016). The best is taken, then what is better on top of it (coordinate descent), as long as the
//! tier is [kept](Bench::keeps). The winner is measured again, beside today's settings, on trials that the search did not
//! see: the best of many that are equal looks better than it is.

mod found;
mod measured;
mod search;

pub use found::{Columns, Ended};
pub use measured::{Measured, Subject, Worth};
pub use search::{Bench, TooShort, search};
