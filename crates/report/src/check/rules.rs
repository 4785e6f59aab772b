//! The rules, as one table.

use std::collections::BTreeMap;

use embermark_model::result::{Cell, Floor, PhaseResult, ResultFile, SCHEMA};
use embermark_model::{Durability, Status};

use super::Finding::{self, Failed, NotKnown, Passed};
use super::{measured, phases, spread};
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
pub(super) const RULES: [Rule; 13] = [
    Rule {
        name: "schema",
        asks: "the file has the current schema",
        remedy: "read it with this version: `embermark report FILE --format json` upgrades it",
        test: schema,
    },
    Rule {
        name: "complete",
        asks: "the run ended, and has figures",
        remedy: "finish it with `embermark run --resume FOLDER`",
        test: complete,
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
        test: spread::typical_spread,
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

/// Names the first few places and the number of others.
fn some(places: impl IntoIterator<Item = String>) -> String {
    const MOST: usize = 3;
    let places = text::unique(places);
    let more = places.len().saturating_sub(MOST);
    let named = text::joined(places.into_iter().take(MOST), ", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

fn schema(file: &ResultFile) -> Finding {
    match file.schema {
        SCHEMA => Passed(format!("schema {SCHEMA}")),
        other => Failed(format!("schema {other}; the current one is {SCHEMA}")),
    }
}

fn complete(file: &ResultFile) -> Finding {
    let left = file.cells.iter().filter(|cell| cell.status == Status::NotRun).count();
    let figures = phases(file).filter(|(_, part)| part.status.has_figures()).count();
    match &file.manifest.finished {
        None => Failed("the run did not end".to_owned()),
        Some(_) if figures == 0 => Failed("no phase of an engine has figures".to_owned()),
        Some(_) if left > 0 && file.plan.lasts_ms.is_none() => {
            Failed(format!("{} not begun", format::counted(left as u64, "cell")))
        }
        Some(finished) => Passed(format!("ended {}", text::clipped(finished, 40))),
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
    let unknown = known.iter().filter(|(_, known)| !known).map(|(what, _)| (*what).to_owned());
    let unknown: Vec<String> = unknown.collect();
    let file_system = machine.file_system.as_deref().unwrap_or_default();
    let promises = measured(file).any(|cell| cell.id.durability == Durability::Power);
    if !unknown.is_empty() {
        Failed(format!("not recorded: {}", unknown.join(", ")))
    } else if promises && matches!(file_system, "tmpfs" | "ramfs") {
        Failed(format!(
            "the databases were in memory ({file_system}), where no power cut is survived"
        ))
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
    let of = |is: &dyn Fn(&PhaseResult) -> bool| -> Vec<String> {
        let some = phases(file).filter(|(_, part)| is(part));
        some.map(|(cell, part)| place(cell, part)).collect()
    };
    let wrong = of(&|part| part.status == Status::Wrong);
    let disputed = of(&|part| part.status == Status::Disputed);
    let unverified = of(&|part| part.status.has_figures() && is_unverified(part));
    let is_wrong = |cell: &&Cell| cell.status == Status::Wrong;
    if !wrong.is_empty() {
        Failed(format!("wrong: {}", some(wrong)))
    } else if let Some(cell) = file.cells.iter().find(is_wrong) {
        Failed(format!("wrong: {}", text::plain(&cell.id.to_string())))
    } else if !disputed.is_empty() {
        Failed(format!("engines differ, and it is unknown which one is right: {}", some(disputed)))
    } else if !unverified.is_empty() {
        Failed(format!("not verified: {}", some(unverified)))
    } else {
        Passed("every answer was verified".to_owned())
    }
}

fn floor(file: &ResultFile) -> Finding {
    let by_the_clock =
        |(_, part): (&Cell, &PhaseResult)| part.runs.iter().all(|run| run.observed.is_some());
    let phases_of = |floor: &Floor| floor.phases.values().map(BTreeMap::len).sum::<usize>();
    match file.manifest.floor.as_ref().map_or(0, phases_of) {
        0 if phases(file).all(by_the_clock) => {
            NotKnown("phases of fixed length have none".to_owned())
        }
        0 => Failed("it was not measured".to_owned()),
        phases => Passed(format!("measured of {}", format::counted(phases as u64, "phase"))),
    }
}

fn load(file: &ResultFile) -> Finding {
    let trials = || measured(file).flat_map(|cell| &cell.trials);
    let (mut others, mut stolen, mut all) = (0.0, 0.0, 0.0);
    for background in trials().filter_map(|trial| trial.background_cpu) {
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
        None => NotKnown("the first trial was not repeated".to_owned()),
        Some(drift) if drift.is_notable() => Failed(drift.describe()),
        Some(drift) => Passed(drift.describe()),
    }
}

fn settings(file: &ResultFile) -> Finding {
    let with_figures = || measured(file).filter(|cell| cell.status.has_figures());
    let by_url = with_figures().filter(|cell| file.plan.urls.contains_key(&cell.id.engine));
    let by_url: Vec<String> = by_url.map(|cell| text::plain(&cell.id.engine)).collect();
    let without = with_figures()
        .filter(|cell| cell.trials.iter().any(|trial| trial.settings.is_empty()))
        .map(|cell| text::plain(&cell.id.engine));
    let without: Vec<String> = without.collect();
    if !by_url.is_empty() {
        Failed(format!("a server given by its URL has its own settings: {}", some(by_url)))
    } else if !without.is_empty() {
        Failed(format!("no settings of {}", some(without)))
    } else {
        Passed("every trial has its settings".to_owned())
    }
}

fn licences(file: &ResultFile) -> Finding {
    match file.unpublishable() {
        engines if engines.is_empty() => Passed("all may be published".to_owned()),
        engines => Failed(format!(
            "they forbid publishing figures of {}",
            some(engines.into_iter().map(text::plain))
        )),
    }
}
