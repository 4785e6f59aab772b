//! A prepared cell of the machine workload.

use super::machine_log::{Form, Layout};
use crate::Spec;

/// Everything that exists before the engine does.
pub(super) struct PreparedCell {
    pub spec: Spec,
    pub layout: Layout,
    pub form: Form,
    pub samples: u64,
    pub seed: u64,
}
