//! Questions of a workload file as aggregation pipelines of MongoDB: JSON arrays of stages. Absent
//! values have no field.
//! The columns of the key are under `_id`.

mod conditions;
pub(super) mod groups;
pub(super) mod paths;
pub(super) mod rows;
pub(super) mod statistics;
pub(super) mod values;

#[cfg(test)]
mod tests;
