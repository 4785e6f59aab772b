//! The probes of a trial.

use embermark_model::result::Resources;

use crate::probe::{self, Probe};

/// The probes of a trial: one for the engine's processes, and one for the client if that is another
/// process.
pub(crate) struct Probes {
    engine: Option<Probe>,
    client: Option<Probe>,
}

impl Probes {
    /// Makes the probes. An embedded engine is measured in this process. A private server is
    /// measured in its own processes, separately from this one. A server given by URL (`foreign`)
    /// cannot be measured.
    pub fn new(server: Option<u32>, foreign: bool) -> Self {
        let this = Probe::process(std::process::id());
        match server {
            Some(root) => Self { engine: Some(Probe::tree(root)), client: Some(this) },
            None if foreign => Self { engine: None, client: Some(this) },
            None => Self { engine: Some(this), client: None },
        }
    }

    pub fn begin(&self) -> [Option<probe::Before>; 2] {
        [self.engine, self.client].map(|probe| probe.map(|probe| probe.begin()))
    }

    pub fn end(
        &self,
        [engine, client]: [Option<probe::Before>; 2],
    ) -> (Resources, Option<Resources>) {
        let end = |probe: Option<Probe>, before| Some(probe?.end(before?));
        (end(self.engine, engine).unwrap_or_default(), end(self.client, client))
    }
}
