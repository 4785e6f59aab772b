//! Workloads on real engines, and on engines that lie.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod batches;
mod caps;
mod clients;
mod colliding_names;
mod common;
mod contacts;
mod defined_families;
mod documents;
mod each_run;
mod engines;
mod events;
mod htap;
mod lies;
mod limits;
mod mirrored;
mod names;
mod openings;
mod questions;
mod retention;
mod sequences;
