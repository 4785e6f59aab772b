//! From sources to their parts.

use std::path::Path;

use embermark_harness::device::Device;
use embermark_model::plan::{Plan, Repeats};
use embermark_model::{Scale, choice};
use embermark_published::{Piece, Source, all, find};
use embermark_workloads::find as workload;
use serde::{Deserialize, Serialize};

use crate::error::Failure;
use crate::plan::PlanArgs;

/// A piece of a source at one scale, as it is kept in the folder of the whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The source and the piece.
    pub repeats: Repeats,
    /// Its folder below that of the whole.
    pub folder: String,
    /// What it does, in a line.
    pub about: String,
    /// The device that is emulated.
    pub device: Option<String>,
    /// Whether the size of a database loaded once is counted, in a trial of its own.
    pub counting: bool,
    /// How long it is expected to take, in seconds, where that is known.
    pub expected_s: Option<u64>,
    /// What a plan file would have.
    pub plan: PlanArgs,
}

impl Part {
    /// Its plan.
    pub fn plan(&self) -> Result<Plan, Failure> {
        let named = |failure| Failure::usage(format!("{}: {failure}", self.folder));
        let plan = self.plan.clone().plan().map_err(named)?;
        Ok(Plan { repeats: Some(self.repeats.clone()), ..plan })
    }
}

/// The parts of the sources and pieces that are named, `given` going before their own plans; of a
/// device that is named those that emulate it.
pub fn of(
    sources: &[String],
    pieces: &[String],
    given: &PlanArgs,
    device: Option<&'static Device>,
) -> Result<Vec<Part>, Failure> {
    refuse_what_a_source_says(given)?;
    let sources = chosen(sources)?;
    let known = || sources.iter().flat_map(|source| &source.pieces);
    for name in pieces {
        if known().all(|piece| piece.name != *name) {
            let names = known().map(|piece| &*piece.name);
            return Err(Failure::usage(choice::unknown("piece", name, names)));
        }
    }
    let mut parts = Vec::new();
    for source in &sources {
        let named = |piece: &&Piece| pieces.is_empty() || pieces.contains(&piece.name);
        let emulated = |piece: &&Piece| {
            device.is_none_or(|device| piece.device.as_deref() == Some(device.name))
        };
        for piece in source.pieces.iter().filter(named).filter(emulated) {
            parts.extend(of_piece(source, piece, given)?);
        }
    }
    match (parts.is_empty(), device) {
        (false, _) => Ok(parts),
        (true, Some(device)) => Err(Failure::usage(format!(
            "no piece of what is named emulates {}: leave out --device",
            device.name
        ))),
        (true, None) => Err(Failure::usage("no piece of what is named is left: name others")),
    }
}

/// The sources that are named.
fn chosen(names: &[String]) -> Result<Vec<&'static Source>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(all().iter().collect());
    }
    let mut chosen: Vec<&Source> = Vec::new();
    for name in names {
        let source = find(name).ok_or_else(|| {
            let known = all().iter().map(|source| &*source.id).chain(["all"]);
            Failure::usage(choice::unknown("source", name, known))
        })?;
        if chosen.iter().all(|known| known.id != source.id) {
            chosen.push(source);
        }
    }
    Ok(chosen)
}

/// A piece at each of its scales, or of those given.
fn of_piece(source: &Source, piece: &Piece, given: &PlanArgs) -> Result<Vec<Part>, Failure> {
    let own: PlanArgs = toml::Value::Table(piece.plan.clone()).try_into().map_err(|error| {
        Failure::runtime(format!("{}/{} is no plan: {error}", source.id, piece.name))
    })?;
    let scales: Vec<(String, String)> = match given.scale.as_slice() {
        [] => piece.scales.iter().map(|rows| (rows.to_string(), piece.unit(*rows))).collect(),
        given => {
            given.iter().map(|scale| (scale.clone(), format!("{}-{scale}", piece.name))).collect()
        }
    };
    let reads_files = workload(&source.workload).is_ok_and(|workload| workload.info().reads_files);
    let part = |(scale, name): (String, String)| {
        let data = given.data.as_deref().filter(|_| reads_files);
        let data = data
            .map(Path::canonicalize)
            .transpose()
            .map_err(|error| Failure::usage(format!("--data: {error}")))?;
        let expected_s = match scale.parse().map_err(Failure::usage)? {
            Scale::Rows(rows) => piece.expected(rows),
            Scale::Full => None,
        };
        let given = PlanArgs { data, scale: vec![scale], ..given.clone() };
        Ok(Part {
            repeats: Repeats { source: source.id.clone(), piece: piece.name.clone() },
            folder: format!("{}/{name}", source.id),
            about: piece.about.clone(),
            device: piece.device.clone(),
            counting: piece.counting,
            expected_s,
            plan: given.or(own.clone())?,
        })
    };
    scales.into_iter().map(part).collect()
}

/// Refuses what the sources themselves say.
fn refuse_what_a_source_says(given: &PlanArgs) -> Result<(), Failure> {
    let said = [
        ("a workload", !given.workloads.is_empty()),
        ("--engines", !given.engines.is_empty()),
        ("--configuration", !given.configuration.is_empty()),
        ("--durability", !given.durability.is_empty()),
        ("--variant", !given.variant.is_empty()),
        ("--phases", !given.phases.is_empty()),
        ("--scales-until", given.scales_until.is_some()),
        ("--clients", given.clients.is_some()),
        ("--rate", given.rate.is_some()),
        ("--memory-limit", !given.memory_limit.is_empty()),
        ("--cold", given.cold),
        ("--url", !given.url.is_empty()),
        ("--lenient", given.lenient.is_some()),
    ];
    said.into_iter().find(|(_, given)| *given).map_or(Ok(()), |(option, _)| {
        Err(Failure::usage(format!(
            "{option} is said by what --as-published repeats: leave it out, or run a plan of your own"
        )))
    })
}

#[cfg(test)]
mod tests;
