//! The tables of the workload's source, and its scores.

use std::sync::LazyLock;

use serde::Deserialize;

use super::score::{Resource, Weights, scores};

/// The source's tables.
#[derive(Clone, Debug, Deserialize)]
pub struct Tables {
    /// Where they are from.
    pub source: Source,
    /// A way of writing with a way of reading.
    pub row: Vec<Row>,
}

/// Where figures are from.
#[derive(Clone, Debug, Deserialize)]
pub struct Source {
    /// Its title.
    pub title: String,
    /// The workload that reproduces it.
    pub workload: String,
    /// What it ran on.
    pub hardware: String,
    /// In a line, why the figures need not agree with a run's.
    pub differs: String,
    /// What is inconsistent in the source itself.
    pub notes: Vec<String>,
}

/// One engine, written and read in one way each.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    /// The engine.
    pub engine: String,
    /// How it was written.
    pub variant: String,
    /// How it was read.
    pub reader: String,
    /// Usage of writing, in the order of [`Resource::WRITING`].
    pub write: Vec<f64>,
    /// Usage of reading, in the order of [`Resource::READING`].
    pub read: Vec<f64>,
    /// The source's own scores of writing and reading and of both, in percent.
    pub score: [f64; 3],
}

/// The source's tables.
///
/// # Panics
/// When the file of the repository is no such tables, which a test rules out.
pub fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| {
        let text = include_str!("../../published/highfreq-three-servers.toml");
        toml::from_str(text).expect("a file of the repository is well-formed")
    });
    &TABLES
}

/// What the names of variants end with whose tables, documents and readers are the source's.
pub const FORM: &str = "-published";

/// How laborious the source found it to write or to read an engine in one way, from 1 (easy) to 5;
/// `None` of what it did not grade.
pub fn effort(engine: &str, variant: &str, phase: &str) -> Option<f64> {
    let variant = variant.strip_suffix(FORM).unwrap_or(variant);
    let mut rows =
        tables().row.iter().filter(|row| (&*row.engine, &*row.variant) == (engine, variant));
    match phase.strip_prefix("read_") {
        Some(reader) => rows.find(|row| row.reader == reader)?.read.last(),
        None => rows.find(|_| phase == "write")?.write.last(),
    }
    .copied()
}

/// Scores of writing, of reading and of both, computed from the columns by the source's formula,
/// from 0 to 1.
pub fn recomputed(tables: &Tables, weights: &Weights) -> Vec<[f64; 3]> {
    let columns = |of: fn(&Row) -> &Vec<f64>| -> Vec<Vec<Option<f64>>> {
        tables.row.iter().map(|row| of(row).iter().copied().map(Some).collect()).collect()
    };
    let write = scores(&columns(|row| &row.write), &Resource::WRITING, weights);
    let read = scores(&columns(|row| &row.read), &Resource::READING, weights);
    let both = |(write, read): (Option<f64>, Option<f64>)| {
        let (write, read) = (write.unwrap_or_default(), read.unwrap_or_default());
        [write, read, f64::midpoint(write, read)]
    };
    write.into_iter().zip(read).map(both).collect()
}

#[cfg(test)]
mod tests;
