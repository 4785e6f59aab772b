//! Results of `embermark tune`, as data of the page.

use embermark_model::tuning_result::{Tuned, TuningResult};
use serde::Serialize;

use crate::grid::Grid;
use crate::note::Note;

use crate::text::plain;
use crate::tuned;

/// The engines that were tuned.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Tuning"))]
pub struct TuningData {
    /// The workload, the tier and the machine.
    about: String,
    /// The table with a line for each engine.
    overview: Grid,
    /// Each engine with its candidates.
    engines: Vec<EngineData>,
}

/// One engine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TunedEngine"))]
struct EngineData {
    /// Its heading.
    title: String,
    /// Notes on the search and its outcome.
    notes: Vec<Note>,
    /// Better settings. Absent if today's settings are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    better: Option<BetterData>,
    /// The table with a line for each candidate.
    candidates: Grid,
}

/// Better settings than today's.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "BetterSettings"))]
struct BetterData {
    /// The figures that show it.
    because: Grid,
    /// The lines to paste into a program.
    program: String,
    /// The lines to paste into a plan file.
    plan: String,
}

impl TuningData {
    pub(super) fn new(result: &TuningResult) -> Self {
        let machine = result.machine.as_ref().map(crate::notes::machine);
        let about = format!("tier {}, for {}", result.tier, tuned::work(result));
        Self {
            about: plain(&machine.map_or_else(|| about.clone(), |of| format!("{about} · {of}"))),
            overview: tuned::overview(result),
            engines: result.engines.iter().map(|(name, one)| engine(name, one, result)).collect(),
        }
    }
}

fn engine(name: &str, one: &Tuned, of: &TuningResult) -> EngineData {
    let better = one.found.better().map(|_| BetterData {
        because: tuned::because(one),
        program: one.in_a_program[1].join("\n"),
        plan: tuned::in_a_plan(one).join("\n"),
    });
    EngineData {
        title: tuned::title(name, one, of),
        notes: tuned::notes(one, of),
        better,
        candidates: tuned::candidates(one),
    }
}
