//! Errors of calls.

use std::fmt::Display;

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::parquet::errors::ParquetError;

/// Reasons why a call failed.
pub(crate) enum Failure {
    /// Not supported, with a message.
    Unsupported(String),
    /// Any other reason.
    Failed(String),
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Self {
        match error.find_root() {
            DataFusionError::NotImplemented(what) => Self::Unsupported(what.clone()),
            _ => Self::Failed(error.strip_backtrace()),
        }
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

pub(crate) type Done<T = ()> = Result<T, Failure>;

/// Returns a function that makes a failure of an action.
pub(crate) fn cannot<E: Display>(doing: impl Display) -> impl FnOnce(E) -> Failure {
    move |error| Failure::Failed(format!("cannot {doing}: {error}"))
}
