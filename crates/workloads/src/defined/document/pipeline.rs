//! Questions of a workload file as aggregation pipelines of MongoDB: JSON arrays of stages. Absent
//! values have no field.
//! The columns of the key are under `_id`.

pub(super) mod rows;
pub(super) mod statistics;
pub(super) mod values;

#[cfg(test)]
mod tests;
