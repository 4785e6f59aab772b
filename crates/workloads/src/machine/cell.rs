//! What is prepared of a machine cell.

use super::port::{Form, Layout};
use crate::Spec;

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub spec: Spec,
    pub layout: Layout,
    pub form: Form,
    pub samples: u64,
    pub seed: u64,
}
