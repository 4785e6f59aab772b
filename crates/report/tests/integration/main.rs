//! Outputs from results: tables, the page, exports, comparisons and advice.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod as_published;
mod check;
mod checked;
mod clients;
mod compare;
mod counted;
mod coverage;
mod durability;
mod energy;
mod everything;
mod explained;
mod export;
mod fleet;
mod gate;
mod html;
mod intervals;
mod large;
mod load;
mod lossy;
mod metered;
mod mutated;
mod network;
mod older;
mod parquet;
mod recomputed;
mod reproduction;
mod screen;
mod sharing;
mod site;
mod storage;
mod table;
mod tuned;
mod with_explanations;
mod written;
