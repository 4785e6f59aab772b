//! The rules, as one table.

use std::collections::BTreeMap;

use embermark_model::result::{Cell, Floor, PhaseResult, ResultFile, SCHEMA};
use embermark_model::{Durability, Status};

use super::Finding::{self, Failed, NotKnown, Passed};
use super::{measured, phases};
use crate::statistics::{FEWEST_TRIALS, mean, median};
use crate::summary::{Figure, Phases};
use crate::{drift, format, text};

/// One rule.
pub(super) struct Rule {
    pub name: &'static str,
    /// What the rule requires, in a few words.
    pub asks: &'static str,
    /// What to do if a result breaks the rule.
    pub remedy: &'static str,
    /// Tests a result.
    pub test: fn(&ResultFile) -> Finding,
}

/// Share of all CPUs that other programs may use while trials run. The run's own warning has the
/// same limit.
const BUSY: f64 = 0.15;

/// Share that the host of a virtual machine may take, with the same limit as the run's warning.
const STOLEN: f64 = 0.05;

/// All rules.
pub(super) const RULES: [Rule; 14] = [
    Rule {
        name: "schema",
        asks: "the file has the current schema",
        remedy: "read it with this version: `embermark report FILE --format json` upgrades it",
        test: schema,
    },
    Rule {
        name: "complete",
        asks: "the run ended, and left no cell out",
        remedy: "finish it with `embermark run --resume FOLDER`",
        test: complete,
    },
    Rule {
        name: "figures",
        asks: "a phase of an engine has figures",
        remedy: "`embermark report FILE` shows why none has: mend that, and run again",
        test: figures,
    },
    Rule {
        name: "version",
        asks: "this embermark knows the version that measured",
        remedy: "upgrade embermark",
        test: version,
    },
    Rule {
        name: "clean-tree",
        asks: "embermark was built from a commit without changes",
        remedy: "commit or revert what `git status` lists, build, and run again",
        test: clean_tree,
    },
    Rule {
        name: "release-build",
        asks: "embermark was built with the release profile",
        remedy: "build with `make build`, and run again",
        test: release_build,
    },
    Rule {
        name: "machine",
        asks: "the machine is recorded, and the databases were on a disk",
        remedy: "run again with --dir on a disk; what could not be read is named",
        test: machine,
    },
    Rule {
        name: "answers",
        asks: "no answer was wrong, and each was verified",
        remedy: "leave the engine out or fix it; an answer that only one engine gave needs another engine, \
                 or expected rows in the workload file",
        test: answers,
    },
    Rule {
        name: "floor",
        asks: "the cost of embermark itself was measured in the same run",
        remedy: "run again with this version: every run measures it",
        test: floor,
    },
    Rule {
        name: "load",
        asks: "other programs and virtual machines took little of the CPUs while trials ran",
        remedy: "stop other programs, or use a dedicated machine, and run again",
        test: load,
    },
    Rule {
        name: "drift",
        asks: "the machine did not become slower or faster during the run",
        remedy: "let it cool down, connect it to power, and run again",
        test: drifted,
    },
    Rule {
        name: "spread",
        asks: "trials of the same phase differ little",
        remedy: "run with --trials 5 or more on a machine that does nothing else, or with more rows",
        test: typical_spread,
    },
    Rule {
        name: "settings",
        asks: "the settings of every engine are recorded as it had them",
        remedy: "run the engine in a server that embermark starts, or with a version that records settings",
        test: settings,
    },
    Rule {
        name: "licences",
        asks: "no licence forbids publishing its figures",
        remedy: "write the result without them: `embermark check FILE --publishable -o NEW`",
        test: licences,
    },
];

/// Names the first few places and the number of others. `None` without places.
fn some(places: impl IntoIterator<Item = String>) -> Option<String> {
    const MOST: usize = 3;
    let places = text::unique(places);
    (!places.is_empty()).then(|| text::first(&places, MOST))
}

fn schema(file: &ResultFile) -> Finding {
    match file.schema {
        SCHEMA => Passed(format!("schema {SCHEMA}")),
        other => Failed(format!("schema {other}; the current one is {SCHEMA}")),
    }
}

fn complete(file: &ResultFile) -> Finding {
    let left = file.cells.iter().filter(|cell| cell.status == Status::NotRun).count();
    match &file.manifest.finished {
        None => Failed("the run did not end".to_owned()),
        Some(_) if left > 0 && file.plan.lasts_ms.is_none() => {
            Failed(format!("{} not begun", format::counted(left as u64, "cell")))
        }
        Some(finished) => Passed(format!("ended {}", text::clipped(finished, 40))),
    }
}

fn figures(file: &ResultFile) -> Finding {
    match phases(file).filter(|(_, part)| part.status.has_figures()).count() {
        0 => Failed("no phase of an engine has figures".to_owned()),
        // Each phase of each trial counts, as in the file.
        figures => Passed(format!("{} of trials", format::counted(figures as u64, "phase"))),
    }
}

fn version(file: &ResultFile) -> Finding {
    let parts = |version: &str| -> Option<Vec<u32>> {
        let parts: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
        parts.filter(|parts| parts.len() == 3)
    };
    let (own, version) = (env!("CARGO_PKG_VERSION"), &file.manifest.tool.version);
    match parts(version) {
        None => Failed(format!("'{}' is not a version", text::clipped(version, 40))),
        its if its > parts(own) => Failed(format!("{version}, and this is {own}")),
        Some(_) => Passed(version.clone()),
    }
}

fn clean_tree(file: &ResultFile) -> Finding {
    let Some(commit) = &file.manifest.tool.commit else {
        return Failed("no commit is recorded: it was built outside of a git clone".to_owned());
    };
    let shown = text::clipped(commit, 50);
    let digits = commit.strip_suffix("-dirty").unwrap_or(commit);
    let is_commit =
        (7..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    match (is_commit, digits == commit) {
        (false, _) => Failed(format!("'{shown}' is not a commit")),
        (true, false) => Failed(format!("{shown}: the tree had changes")),
        (true, true) => Passed(shown),
    }
}

fn release_build(file: &ResultFile) -> Finding {
    match file.manifest.tool.profile.as_str() {
        "release" => Passed("release".to_owned()),
        other => Failed(text::clipped(other, 40)),
    }
}

fn machine(file: &ResultFile) -> Finding {
    let machine = &file.manifest.machine;
    let known = [
        ("CPU", machine.cpu.is_some()),
        ("number of CPUs", machine.cpus.is_some()),
        ("memory", machine.memory_bytes.is_some()),
        ("kernel", machine.kernel.is_some()),
        ("file system", machine.file_system.is_some()),
    ];
    let unknown = known.iter().filter(|(_, known)| !known);
    let unknown: Vec<&str> = unknown.map(|(what, _)| *what).collect();
    let file_system = machine.file_system.as_deref().unwrap_or_default();
    let promises = measured(file).any(|cell| cell.id.durability == Durability::Power);
    if !unknown.is_empty() {
        Failed(format!("not recorded: {}", unknown.join(", ")))
    } else if promises && matches!(file_system, "tmpfs" | "ramfs") {
        let why = "where no power cut is survived";
        Failed(format!("the databases were in memory ({file_system}), {why}"))
    } else {
        Passed(crate::notes::machine(machine))
    }
}

fn answers(file: &ResultFile) -> Finding {
    let place = |cell: &Cell, part: &PhaseResult| {
        let (engine, workload) = (text::plain(&cell.id.engine), text::plain(&cell.id.workload));
        format!("{engine} {workload} {}", text::plain(&part.phase))
    };
    let is_unverified = |part: &PhaseResult| {
        let by = part.checked_by.as_deref();
        // One referee cannot be compared with another. Older results have "by sqlite alone".
        let is_single = |by: &str| by.starts_with("only by ") || by.ends_with(" alone");
        by.is_some_and(|by| by.starts_with("unchecked") || is_single(by))
    };
    let of = |is: &dyn Fn(&PhaseResult) -> bool| {
        some(phases(file).filter(|(_, part)| is(part)).map(|(cell, part)| place(cell, part)))
    };
    let is_wrong = |cell: &&Cell| cell.status == Status::Wrong;
    if let Some(wrong) = of(&|part| part.status == Status::Wrong) {
        Failed(format!("wrong: {wrong}"))
    } else if let Some(cell) = file.cells.iter().find(is_wrong) {
        Failed(format!("wrong: {}", text::plain(&cell.id.to_string())))
    } else if let Some(disputed) = of(&|part| part.status == Status::Disputed) {
        Failed(format!("engines differ, and it is unknown which one is right: {disputed}"))
    } else if let Some(which) = of(&|part| part.status.has_figures() && is_unverified(part)) {
        Failed(format!("not verified: {which}"))
    } else {
        Passed("every answer was verified".to_owned())
    }
}

fn floor(file: &ResultFile) -> Finding {
    let is_fixed =
        |(_, part): (&Cell, &PhaseResult)| part.runs.iter().all(|run| run.observed.is_some());
    let phases_of = |floor: &Floor| floor.phases.values().map(BTreeMap::len).sum::<usize>();
    match file.manifest.floor.as_ref().map_or(0, phases_of) {
        0 if phases(file).all(is_fixed) => NotKnown("phases of fixed length have none".to_owned()),
        0 => Failed("it was not measured".to_owned()),
        phases => Passed(format!("measured of {}", format::counted(phases as u64, "phase"))),
    }
}

fn load(file: &ResultFile) -> Finding {
    let trials = measured(file).flat_map(|cell| &cell.trials);
    let (mut others, mut stolen, mut all) = (0.0, 0.0, 0.0);
    for background in trials.filter_map(|trial| trial.background_cpu) {
        others += background.cpu_ns as f64;
        stolen += background.stolen_ns as f64;
        all += background.total_cpu_ns as f64;
    }
    if all <= 0.0 {
        return NotKnown("the result does not record what other programs took".to_owned());
    }
    let (others, stolen) = (others / all, stolen / all);
    let found = format!(
        "other programs took {:.1} % of the CPUs, the host of a virtual machine {:.1} %",
        others * 100.0,
        stolen * 100.0
    );
    if others > BUSY || stolen > STOLEN {
        let most = format!("{} and {}", format::percent(BUSY), format::percent(STOLEN));
        Failed(format!("{found}; the most is {most}"))
    } else {
        Passed(found)
    }
}

fn drifted(file: &ResultFile) -> Finding {
    match drift::drift(file) {
        None => NotKnown(drift::why_not_known(file).to_owned()),
        Some(drift) if drift.is_notable() => Failed(drift.describe()),
        Some(drift) => Passed(drift.describe()),
    }
}

fn settings(file: &ResultFile) -> Finding {
    let of = |is: &dyn Fn(&Cell) -> bool| {
        let cells = measured(file).filter(|cell| cell.status.has_figures() && is(cell));
        some(cells.map(|cell| text::plain(&cell.id.engine)))
    };
    if let Some(by_url) = of(&|cell| file.plan.urls.contains_key(&cell.id.engine)) {
        Failed(format!("a server given by its URL has its own settings: {by_url}"))
    } else if let Some(without) = of(&|cell| cell.trials.iter().any(|t| t.settings.is_empty())) {
        Failed(format!("no settings of {without}"))
    } else {
        Passed("every trial has its settings".to_owned())
    }
}

fn licences(file: &ResultFile) -> Finding {
    match some(file.unpublishable().into_iter().map(text::plain)) {
        None => Passed("all may be published".to_owned()),
        Some(engines) => Failed(format!("they forbid publishing figures of {engines}")),
    }
}

/// Range that SNIA's rule allows for five rounds: 20 % of their mean (*Solid State Storage
/// Performance Test Specification* 2.0.1, section 2.1.24).
const RANGE: f64 = 0.20;

/// Mean range of five values of a normal distribution, in standard deviations (L. H. C. Tippett,
/// "On the extreme individuals and the range of samples taken from a normal population", Biometrika
/// 17, 1925).
const RANGE_OF_FIVE: f64 = 2.326;

/// Compares the typical spread with its limit. The spread is the median over the phases of the
/// standard deviation of the logarithms of the trials' times. The limit is that of trials of which
/// five are within SNIA's range.
fn typical_spread(file: &ResultFile) -> Finding {
    let mut phases = 0;
    let mut spreads: Vec<f64> = Vec::new();
    for cell in measured(file) {
        let own = Phases::new(cell);
        let parts = cell.trials.iter().flat_map(|trial| &trial.phases);
        for phase in text::unique(parts.map(|part| part.phase.as_str())) {
            let parts = own.at(phase);
            if !parts.iter().all(|(_, part)| part.status.has_figures()) {
                continue;
            }
            let Some(figure) = Figure::from_parts(parts) else { continue };
            phases += 1;
            spreads.extend(deviation(&figure.per_trial_ns));
        }
    }
    let of = format!(
        "{} of {} have three trials or more",
        format::count(spreads.len() as u64),
        format::counted(phases, "phase")
    );
    let limit = RANGE / RANGE_OF_FIVE;
    let Some(typical) = median(&spreads) else { return Failed(of) };
    let found = format!("trials differ by {:.1} % in the typical phase; {of}", typical * 100.0);
    match typical <= limit {
        true => Passed(found),
        false => Failed(format!("{found}; the most is {:.1} %", limit * 100.0)),
    }
}

/// Returns the standard deviation of the logarithms. `None` for fewer than three.
fn deviation(trials: &[f64]) -> Option<f64> {
    if trials.len() < FEWEST_TRIALS {
        return None;
    }
    let logs: Vec<f64> = trials.iter().map(|time| time.ln()).collect();
    let mean = mean(&logs)?;
    let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
    Some((squares / (logs.len() - 1) as f64).sqrt())
}
