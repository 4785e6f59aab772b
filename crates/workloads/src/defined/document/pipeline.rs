//! Questions of a workload file as aggregation pipelines of MongoDB. Absent values have no field.
//! The columns of the key are under `_id`.

mod conditions;
pub(super) mod groups;
pub(super) mod paths;
pub(super) mod rows;
pub(super) mod statistics;
pub(super) mod values;

/// A pipeline as a JSON array of stages, and the paths of its columns in the result's documents.
#[derive(Debug, PartialEq)]
pub(super) struct Pipeline {
    pub text: String,
    pub columns: Vec<String>,
}

#[cfg(test)]
mod tests;
