//! Whether two results were measured alike.

use std::fmt::Display;

use embermark_model::plan::{DataSource, Dataset, Plan};
use embermark_model::result::{Machine, ResultFile};
use serde::Serialize;

use crate::{drift, format, summary, text};

/// Memory of one machine, as different kernels report it, differs by less than this share.
const SAME_MEMORY: f64 = 0.02;

/// In what the conditions of two results differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// What makes their figures incomparable.
    pub incomparable: Vec<String>,
    /// What may be the cause of a change, or cast doubt on it.
    pub remarks: Vec<String>,
}

impl Differences {
    /// Two values that must be the same; where one was not recorded, that is said.
    fn must(&mut self, what: &str, old: Option<impl Display>, new: Option<impl Display>) {
        let shown =
            |value: Option<&dyn Display>| value.map(|value| text::plain(&value.to_string()));
        let old = shown(old.as_ref().map(|value| value as &dyn Display));
        let new = shown(new.as_ref().map(|value| value as &dyn Display));
        match (old, new) {
            (Some(old), Some(new)) if old != new => {
                self.incomparable.push(format!("{what}: {old}, then {new}"));
            }
            (Some(_), None) => self.remarks.push(format!("{what} is not recorded in the new file")),
            (None, Some(_)) => self.remarks.push(format!("{what} is not recorded in the old file")),
            _ => {}
        }
    }

    /// Two values that may differ, and which one wants to know of.
    fn may(&mut self, what: &str, old: &str, new: &str) {
        if old != new {
            let (old, new) = (text::plain(old), text::plain(new));
            self.remarks.push(format!("{what}: {old}, then {new}"));
        }
    }
}

/// In what the conditions of two results differ. Other versions of engines and of embermark are
/// what one compares for; another machine, protocol, data set or build is not.
pub fn differences(old: &ResultFile, new: &ResultFile) -> Differences {
    let mut found = conditions(old, new);
    if !old.cells.iter().any(|cell| new.cells.iter().any(|other| other.id == cell.id)) {
        found.incomparable.push("no cell stands in both files".to_owned());
    }
    found
}

/// The same of two files that need have no cell in common.
pub fn conditions(old: &ResultFile, new: &ResultFile) -> Differences {
    let mut found = Differences::default();
    machine(&mut found, &old.manifest.machine, &new.manifest.machine);
    found.must("disk of a trial", disk(old), disk(new));
    for engine in text::unique(old.plan.urls.keys().chain(new.plan.urls.keys())) {
        found.must(&format!("server of {engine}"), server(old, engine), server(new, engine));
    }
    let profile = |file: &ResultFile| Some(file.manifest.tool.profile.clone());
    found.must("build", profile(old), profile(new));
    plan(&mut found, &old.plan, &new.plan);
    for (workload, before) in &old.manifest.datasets {
        if let Some(after) = new.manifest.datasets.get(workload) {
            let about = format!("rows of {}", text::plain(workload));
            found.must(&about, Some(dataset(before)), Some(dataset(after)));
        }
    }
    remarks(&mut found, old, new);
    found
}

fn machine(found: &mut Differences, old: &Machine, new: &Machine) {
    found.must("CPU", old.cpu.as_ref(), new.cpu.as_ref());
    found.must("number of CPUs", old.cpus, new.cpus);
    let near = |a: u64, b: u64| a.abs_diff(b) as f64 <= SAME_MEMORY * a.max(b) as f64;
    if !old.memory_bytes.zip(new.memory_bytes).is_some_and(|(a, b)| near(a, b)) {
        let shown = |bytes: Option<u64>| bytes.map(|bytes| format::bytes(bytes as f64));
        found.must("memory", shown(old.memory_bytes), shown(new.memory_bytes));
    }
    found.must("operating system", old.os.as_ref(), new.os.as_ref());
    found.must("governor", old.governor.as_ref(), new.governor.as_ref());
    found.must("file system", old.file_system.as_ref(), new.file_system.as_ref());
    found.must("mount options", old.mount_options.as_ref(), new.mount_options.as_ref());
    found.must("block device", old.device.as_ref(), new.device.as_ref());
    let emulated = |machine: &Machine| {
        let limits = |(name, limit): (&String, &String)| format!("{name} {limit}");
        Some(machine.emulates.as_ref().map_or("none".to_owned(), |device| {
            let limits: Vec<String> = device.limits.iter().map(limits).collect();
            format!("{} ({})", device.device, limits.join(", "))
        }))
    };
    found.must("emulated device", emulated(old), emulated(new));
    if let (Some(old), Some(new)) = (&old.kernel, &new.kernel) {
        found.may("kernel", old, new);
    }
}

/// Whether trials had disks of their own, whose times have a loop device in them; `None` where none
/// ran.
fn disk(file: &ResultFile) -> Option<&'static str> {
    let mut trials = file.cells.iter().flat_map(|cell| &cell.trials);
    let isolated = trials.clone().any(|trial| trial.device_io.is_some());
    let ran = trials.any(|trial| !trial.phases.is_empty());
    ran.then_some(if isolated { "its own (--isolate-disk)" } else { "that of all" })
}

/// What an engine's server was; `None` where the file has none of its cells. Of a URL what names the
/// server alone: what it says of a user is nobody's business.
fn server(file: &ResultFile, engine: &str) -> Option<String> {
    file.cells.iter().find(|cell| cell.id.engine == engine)?;
    let Some(url) = file.plan.urls.get(engine) else { return Some("private".to_owned()) };
    let host = url.split_once("://").and_then(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next()?;
        authority.rsplit('@').next().filter(|host| !host.is_empty())
    });
    Some(host.map_or("by URL".to_owned(), |host| format!("by URL at {host}")))
}

fn plan(found: &mut Differences, old: &Plan, new: &Plan) {
    let ms =
        |ms: Option<u64>| Some(ms.map_or("none".into(), |ms| format::duration(ms as f64 * 1e6)));
    let data = |data: &DataSource| {
        Some(match data {
            DataSource::Synthetic => "synthetic",
            // Which file is in the data sets, with its digest.
            DataSource::File(_) => "of a file",
        })
    };
    found.must("runs of a trial", Some(old.runs), Some(new.runs));
    found.must("warm-up runs", Some(old.warmup_runs), Some(new.warmup_runs));
    found.must("longest run time", ms(old.max_run_time_ms), ms(new.max_run_time_ms));
    found.must("time of a closed loop", ms(old.window_ms), ms(new.window_ms));
    found.must("warm-up", ms(old.warm_up_ms), ms(new.warm_up_ms));
    found.must("overview", Some(old.overview), Some(new.overview));
    found.must("as published", Some(old.as_published), Some(new.as_published));
    found.must("limit of commits' p99", ms(Some(old.p99_limit_ms)), ms(Some(new.p99_limit_ms)));
    found.must("rate of samples", Some(old.rate), Some(new.rate));
    found.must("clients", Some(old.clients), Some(new.clients));
    let rate = |rate: Option<u64>| {
        Some(rate.map_or("none, a closed loop".into(), |rate| format::rate(rate as f64)))
    };
    found.must("target rate", rate(old.target_rate), rate(new.target_rate));
    found.must("seed", Some(old.seed), Some(new.seed));
    let bytes = |plan: &Plan| Some(format::bytes(plan.memory_bytes as f64));
    found.must("cache memory given to engines", bytes(old), bytes(new));
    found.must("data", data(&old.data), data(&new.data));
    let trials = |plan: &Plan| plan.trials.to_string();
    found.may("trials", &trials(old), &trials(new));
}

fn dataset(set: &Dataset) -> String {
    let digest = set.sha256.as_ref().map(|digest| format!(", sha256 {digest}"));
    let dropped: u64 = set.dropped.values().sum();
    format!(
        "{}, {}, {} dropped{}",
        set.name,
        format::counted(set.rows, "row"),
        format::count(dropped),
        digest.unwrap_or_default()
    )
}

fn remarks(found: &mut Differences, old: &ResultFile, new: &ResultFile) {
    let tool = |file: &ResultFile| {
        let tool = &file.manifest.tool;
        let commit = tool.commit.as_ref().map(|commit| format!(" ({commit})"));
        tool.version.clone() + &commit.unwrap_or_default()
    };
    found.may("embermark", &tool(old), &tool(new));
    for (engine, old, new) in versions(old, new) {
        found.may(engine, &old, &new);
    }
    if old.manifest.run_id == new.manifest.run_id {
        found.remarks.push("both files are of one and the same run".to_owned());
    }
    for (which, file) in [("old", old), ("new", new)] {
        if file.manifest.tool.profile == "debug" {
            found.remarks.push(format!("the {which} file is of a debug build"));
        }
        if let Some(drift) = drift::of(file).filter(|drift| drift.is_notable()) {
            found.remarks.push(format!("the machine drifted in the {which} run: {}", drift.says()));
        }
    }
}

/// The versions of each engine that ran in both.
fn versions<'a>(old: &'a ResultFile, new: &'a ResultFile) -> Vec<(&'a str, String, String)> {
    let after = summary::versions(new);
    let both = summary::versions(old).into_iter().filter_map(|(engine, old)| {
        let (_, new) = after.iter().find(|(other, _)| *other == engine)?;
        Some((engine, old.join(" and "), new.join(" and ")))
    });
    both.collect()
}

/// Why two results cannot be taken for one measurement: what makes them incomparable, and other
/// versions of an engine.
pub fn unpoolable(one: &ResultFile, other: &ResultFile) -> Vec<String> {
    let mut reasons = conditions(one, other).incomparable;
    let differ = versions(one, other).into_iter().filter(|(_, one, other)| one != other);
    reasons.extend(differ.map(|(engine, one, other)| {
        format!(
            "version of {}: {}, then {}",
            text::plain(engine),
            text::plain(&one),
            text::plain(&other)
        )
    }));
    reasons
}
