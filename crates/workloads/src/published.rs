//! Published workload files as workloads.

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::sync::OnceLock;

use embermark_contract::Store;
use embermark_language::{PUBLISHED, parse};
use embermark_model::plan::DataSource;

use crate::bench::Prepared;
use crate::defined::Defined;
use crate::error::WorkloadError;
use crate::info::Info;
use crate::spec::Spec;
use crate::workload::{Source, Workload};

/// A published workload file. It is parsed when more than its name is asked for: every process
/// knows all of them, and that of a trial needs one.
pub(crate) struct Published {
    id: &'static str,
    parsed: OnceLock<&'static dyn Workload>,
}

impl Published {
    /// The file of this name, one of [`PUBLISHED`].
    pub(crate) const fn new(id: &'static str) -> Self {
        Self { id, parsed: OnceLock::new() }
    }

    fn workload(&self) -> &'static dyn Workload {
        *self.parsed.get_or_init(|| {
            let text = PUBLISHED.iter().find(|(name, _)| *name == self.id).map(|(_, text)| text);
            let definition = text.and_then(|text| parse(self.id, text, &[]).ok());
            let definition = definition.expect("a file of the repository is well-formed");
            Defined::leak(definition, PathBuf::new(), 0.0)
        })
    }
}

impl Workload for Published {
    fn id(&self) -> &'static str {
        self.id
    }

    fn info(&self) -> Info {
        self.workload().info()
    }

    fn source(&self, data: &DataSource, seed: u64) -> Result<Box<dyn Source>, WorkloadError> {
        self.workload().source(data, seed)
    }

    fn questions(&self) -> Vec<&'static str> {
        self.workload().questions()
    }

    fn prepare(&self, spec: &Spec) -> Result<Box<dyn Prepared>, WorkloadError> {
        self.workload().prepare(spec)
    }

    fn companion(
        &self,
        role: &str,
        task: &str,
        store: Option<Store>,
        out: File,
    ) -> Result<(), Box<dyn Error>> {
        self.workload().companion(role, task, store, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_known_without_parsing() {
        for (name, _) in PUBLISHED {
            let published = Published::new(name);
            assert_eq!(published.id(), *name);
            assert!(published.parsed.get().is_none());
            assert_eq!(published.info().id, *name);
        }
    }
}
