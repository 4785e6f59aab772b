//! A page with plots of what was measured of a device.

use embermark_model::Storage;
use embermark_storage::Origin;
use embermark_storage::measure::Measured;

/// The page, which needs nothing else.
pub fn page(_: &Storage, _: &Measured, _: &Origin) -> String {
    String::new()
}
