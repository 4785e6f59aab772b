//! The published comparisons against their sources.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod sources;
