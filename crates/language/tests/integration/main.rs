//! Workload files: defaults, mistakes and proposals.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod cases;
mod defaults;
mod files;
mod mistakes;
mod mutated;
mod odd_files;
mod propose;
mod sqlite;
