//! Questions of a workload file as aggregation pipelines of MongoDB. A value that is absent has no
//! field; the columns of the key stand under `_id`.

mod conditions;
pub(super) mod groups;
pub(super) mod paths;
pub(super) mod rows;
pub(super) mod statistics;
pub(super) mod values;

/// A pipeline, as a JSON array of stages, and where the columns of its answer stand in a document of it.
#[derive(Debug, PartialEq)]
pub(super) struct Pipeline {
    pub text: String,
    pub columns: Vec<String>,
}

#[cfg(test)]
mod tests;
