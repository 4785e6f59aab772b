//! Messages of engines whose C library was missing at build time. They replace the engines' `store`
//! modules.

use super::{ID, REMEDY};
use crate::{Availability, EngineError, OpenOptions, Opened, Origin, Result};

const WHY: &str = "built without the headers of its library";

pub(super) fn availability() -> Availability {
    Availability::Missing { why: WHY.to_owned(), remedy: REMEDY.to_owned() }
}

pub(super) fn origin() -> Option<Origin> {
    None
}

pub(super) fn open<T>(_: &OpenOptions, _: &T) -> Result<Opened> {
    Err(EngineError::unavailable(ID, WHY, REMEDY))
}
