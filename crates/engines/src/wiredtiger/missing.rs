//! What is said where WiredTiger was not there to be linked.

use super::ID;
use crate::{Availability, EngineError, OpenOptions, Opened, Result};

const WHY: &str = "built without WiredTiger's headers";
const REMEDY: &str = "apt-get install libwiredtiger-dev, then build again";

pub(super) fn availability() -> Availability {
    Availability::Missing { why: WHY.to_owned(), remedy: REMEDY.to_owned() }
}

pub(super) fn open(_: &OpenOptions) -> Result<Opened> {
    Err(EngineError::unavailable(ID, WHY, REMEDY))
}
