//! The manifest of a run: the tool, the machine and the engines.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use embermark_model::EngineLibrary;
use embermark_model::plan::Plan;
use embermark_model::result::{EngineFacts, EngineLibraryFacts, Machine, Manifest, Tool};
use jiff::{Timestamp, Unit};

use crate::cells::PlannedCell;
use crate::system::System;
use crate::warnings::{self, Conditions, Warnings};
use crate::{Catalog, Result, background_cpu, cpu_speeds, disk, engine_library, throttle};

/// Returns the current time, RFC 3339, UTC, to the second.
pub(crate) fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Second).unwrap_or(now).to_string()
}

/// Returns a unique name for a run: its time and 32 random bits.
pub(crate) fn run_id() -> String {
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    // The standard library keys it at random.
    let random = RandomState::new().build_hasher().finish() as u32;
    format!("{time}-{random:08x}")
}

/// Returns the name of the database or schema that a run makes on a server given by URL. It is
/// known in advance, so that it can be removed after a process was killed.
pub(crate) fn guest(run_id: &str) -> String {
    format!("embermark_{}", run_id.to_ascii_lowercase().replace('-', "_"))
}

/// Returns the tool that measures.
pub(crate) fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("EMBERMARK_COMMIT").map(str::to_owned).filter(|c| !c.is_empty()),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
    }
}

/// Makes the manifest of a run that begins now, with its databases in `data`. The rows, the floor
/// and the warnings are added later.
pub(crate) fn begin(run_id: &str, data: &Path) -> Manifest {
    Manifest {
        run_id: run_id.to_owned(),
        started: now(),
        tool: tool(),
        machine: System::here().machine(data),
        ..Manifest::default()
    }
}

/// Returns facts about the engines of the cells, by column.
pub(crate) fn engines(
    cells: &[PlannedCell],
    plan: &Plan,
    catalog: &Catalog,
) -> Result<BTreeMap<String, EngineFacts>> {
    let facts = |cell: &PlannedCell| {
        let id = &cell.id.engine;
        let facts = catalog.engine_of(&plan.configurations, id)?.info().facts();
        let configuration = plan.configurations.get(id).cloned();
        let engine_library = engine_library::find(plan.engine_of(id)).map(|described| {
            let EngineLibrary { path, sha256 } = described.library;
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            EngineLibraryFacts { file, version: described.about.version, sha256 }
        });
        Ok((id.clone(), EngineFacts { configuration, engine_library, ..facts }))
    };
    cells.iter().map(facts).collect()
}

/// Returns warnings about a run that begins or resumes now, with its databases in `data`, and the
/// disturbances that may pass. The largest database may take `needed` bytes.
pub(crate) fn warnings(machine: &Machine, data: &Path, needed: u64) -> Warnings {
    let system = System::here();
    let uneven_cpus = cpu_speeds::warning(&system);
    let conditions = Conditions {
        machine,
        data,
        debug: cfg!(debug_assertions),
        background_cpu: background_cpu::now(&system),
        uneven_cpus: uneven_cpus.as_deref(),
        slowed: &throttle::now(&system),
        passing: &throttle::passing(&system),
        discharging: system.discharging(),
        swap_used: system.swap_used(),
        free: disk::free_bytes(data),
        needed,
    };
    Warnings { all: warnings::all(&conditions), passing: warnings::passing(&conditions) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_a_name_of_its_own_that_begins_with_its_time() {
        let (one, other) = (run_id(), run_id());
        assert_ne!(one, other);
        assert_eq!(one.len(), "20260801T123456Z-0123abcd".len());
        assert!(one.starts_with("20") && one.contains("Z-"));
    }

    #[test]
    fn times_are_utc_to_the_second() {
        assert_eq!(now().len(), "2026-08-01T12:34:56Z".len());
        assert!(now().ends_with('Z'));
    }
}
