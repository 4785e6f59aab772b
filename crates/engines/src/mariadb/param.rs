//! Parameters on their way to the server.

use mysql::{Params, Value};

use super::NAME;
use crate::sql::Param;
use crate::{EngineError, Result};

/// The parameters as the driver wants them. It takes them by value: one vector a statement, and a
/// copy of each string, are its price.
///
/// # Errors
/// When one is infinite or no number: MariaDB has no such doubles.
pub(super) fn values(params: &[Param<'_>]) -> Result<Params> {
    if params.is_empty() {
        return Ok(Params::Empty);
    }
    let mut values = Vec::with_capacity(params.len());
    for param in params {
        values.push(match *param {
            Param::Null => Value::NULL,
            Param::Int(value) => Value::Int(value),
            Param::Float(value) if !value.is_finite() => {
                let why = format!("{value} is given, and it has no such double");
                return Err(EngineError::failed(NAME, "take a parameter", why));
            }
            Param::Float(value) => Value::Double(value),
            Param::Text(value) => Value::Bytes(value.as_bytes().to_vec()),
        });
    }
    Ok(Params::Positional(values))
}
