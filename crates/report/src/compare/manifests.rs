//! Compares the conditions under which two results were measured.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use embermark_model::plan::{DataSource, Dataset};
use embermark_model::result::{Cell, ResultFile};
use embermark_model::{CellId, Client, Configuration, Durability};
use serde::Serialize;

use crate::statistics::total;
use crate::{drift, format, notes, summary, text};

/// Largest share by which the memory of one machine differs between kernels.
const SAME_MEMORY: f64 = 0.02;

/// Remark on two files of one run.
pub(crate) const ONE_RUN: &str = "both files are of one and the same run";

/// Differences between the conditions of two results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// Differences that make the figures incomparable.
    pub incomparable: Vec<String>,
    /// Differences that may cause a change or cast doubt on it.
    pub remarks: Vec<String>,
}

impl Differences {
    /// Compares two values that must be equal. If one was not recorded, a remark says so.
    fn require_equal(&mut self, what: &str, old: Option<String>, new: Option<String>) {
        match (old, new) {
            (Some(old), Some(new)) if old != new => {
                self.incomparable.push(text::plain(&format!("{what}: {old}, then {new}")));
            }
            (Some(_), None) => self.remarks.push(format!("{what} is not recorded in the new file")),
            (None, Some(_)) => self.remarks.push(format!("{what} is not recorded in the old file")),
            _ => {}
        }
    }

    /// Compares two values that may differ. A difference becomes a remark.
    fn note_difference(&mut self, what: &str, old: &str, new: &str) {
        if old != new {
            self.remarks.push(text::plain(&format!("{what}: {old}, then {new}")));
        }
    }
}

/// A condition of a run and its value. `None` if it is not recorded.
type Condition = (&'static str, fn(&ResultFile) -> Option<String>);

/// Conditions that must be equal, because the figures are incomparable otherwise. `docs/compare.md`
/// names each.
const CONDITIONS: &[Condition] = &[
    ("CPU", |file| file.manifest.machine.cpu.clone()),
    ("number of CPUs", |file| recorded(file.manifest.machine.cpus?)),
    ("page size", |file| recorded(file.manifest.machine.page_bytes?)),
    ("limits of its cgroup", |file| {
        Some(file.manifest.machine.limits_in_words().unwrap_or_else(|| "none".to_owned()))
    }),
    ("operating system", |file| file.manifest.machine.os.clone()),
    ("governor", |file| file.manifest.machine.governor.clone()),
    ("file system", |file| file.manifest.machine.file_system.clone()),
    ("journal of the file system", |file| {
        file.manifest.machine.journal.map(|has| if has { "yes" } else { "no" }.to_owned())
    }),
    ("mount options", |file| file.manifest.machine.mount_options.clone()),
    ("block device", |file| file.manifest.machine.device.clone()),
    ("emulated device", emulated),
    ("disk of a trial", disk),
    ("build", |file| Some(file.manifest.tool.profile.clone())),
    ("runs of a trial", |file| recorded(file.plan.runs)),
    ("warm-up runs", |file| recorded(file.plan.warmup_runs)),
    ("longest run time", |file| ms(file.plan.max_run_time_ms)),
    ("time of a closed loop", |file| ms(file.plan.window_ms)),
    ("warm-up", |file| ms(file.plan.warm_up_ms)),
    ("overview", |file| recorded(file.plan.overview)),
    ("part of a published comparison", |file| {
        Some(file.plan.repeats.as_ref().map_or_else(|| "none".into(), ToString::to_string))
    }),
    ("limit of commits' p99", |file| ms(Some(file.plan.p99_limit_ms))),
    ("rate of samples", |file| recorded(file.plan.rate)),
    ("clients", |file| recorded(file.plan.clients)),
    ("network", |file| {
        let link = file.plan.network.as_ref().map(notes::network::parameters);
        Some(link.unwrap_or_else(|| "none".into()))
    }),
    ("client machines", |file| recorded(file.manifest.client_machines.len().max(1))),
    ("target rate", |file| {
        let rate = file.plan.target_rate.map(|rate| format::rate(rate as f64));
        Some(rate.unwrap_or_else(|| "none, a closed loop".into()))
    }),
    ("cold reads", |file| recorded(if file.plan.cold { "yes" } else { "no" })),
    ("seed", |file| recorded(file.plan.seed)),
    ("cache memory given to engines", |file| bytes(Some(file.plan.memory_bytes))),
    ("data", |file| match file.plan.data {
        DataSource::Synthetic => recorded("synthetic"),
        // The data sets show which file it is, with its digest.
        DataSource::File(_) => recorded("of a file"),
    }),
    ("memory", |file| bytes(file.manifest.machine.memory_bytes)),
];

fn recorded(value: impl Display) -> Option<String> {
    Some(value.to_string())
}

fn ms(ms: Option<u64>) -> Option<String> {
    Some(ms.map_or("none".into(), |ms| format::duration(ms as f64 * 1e6)))
}

fn bytes(bytes: Option<u64>) -> Option<String> {
    Some(format::bytes(bytes? as f64))
}

/// Lists the differences between the conditions of two results. Other versions of engines and of
/// embermark are the purpose of a comparison. Another machine, protocol, data set or build is not.
pub fn differences(old: &ResultFile, new: &ResultFile) -> Differences {
    let mut found = conditions(old, new);
    if !old.cells.iter().any(|cell| new.cells.iter().any(|other| other.id == cell.id)) {
        found.incomparable.push("no cell is in both files".to_owned());
    }
    found
}

/// Lists the differences between two files that need not have a cell in common.
pub fn conditions(old: &ResultFile, new: &ResultFile) -> Differences {
    let mut found = Differences::default();
    let memory = |file: &ResultFile| file.manifest.machine.memory_bytes;
    let near = |(a, b): (u64, u64)| a.abs_diff(b) as f64 <= SAME_MEMORY * a.max(b) as f64;
    let same_memory = memory(old).zip(memory(new)).is_some_and(near);
    for (what, of) in CONDITIONS.iter().filter(|(what, _)| *what != "memory" || !same_memory) {
        found.require_equal(what, of(old), of(new));
    }
    for engine in text::unique(old.plan.urls.keys().chain(new.plan.urls.keys())) {
        let about = format!("server of {engine}");
        found.require_equal(&about, server(old, engine), server(new, engine));
    }
    for (name, before) in &old.plan.configurations {
        if let Some(after) = new.plan.configurations.get(name) {
            let about = format!("configuration {}", text::plain(name));
            found.require_equal(&about, recorded(before.subject()), recorded(after.subject()));
            // Comparing versions or languages is a purpose of a comparison.
            found.note_difference(&format!("library of {name}"), &library(before), &library(after));
            found.note_difference(&format!("client of {name}"), &client(before), &client(after));
        }
    }
    for before in old.plan.storages.iter().flatten() {
        if let Some(after) = new.plan.storage(before.name) {
            let about = format!("storage {}", before.name);
            let [before, after] = [before, after].map(notes::storage::parameters);
            found.require_equal(&about, Some(before), Some(after));
        }
    }
    for (workload, before) in &old.manifest.datasets {
        if let Some(after) = new.manifest.datasets.get(workload) {
            let about = format!("rows of {}", text::plain(workload));
            found.require_equal(&about, Some(dataset(before)), Some(dataset(after)));
        }
    }
    workload_files(&mut found, old, new);
    common_cells(&mut found, old, new);
    remarks(&mut found, old, new);
    found
}

/// Compares the workload files of both, without their comments and blank lines. A phase that is in
/// both must be the same, and so must be everything that is not a phase.
fn workload_files(found: &mut Differences, old: &ResultFile, new: &ResultFile) {
    for (name, before) in &old.plan.workload_files {
        let Some(after) = new.plan.workload_files.get(name) else { continue };
        let about = format!("workload file {}", text::plain(name));
        let parsed = [before, after].map(|file| file.text.parse::<toml::Table>());
        let [Ok(mut before), Ok(mut after)] = parsed else {
            if before.text != after.text {
                found.incomparable.push(format!("{about}: another text"));
            }
            continue;
        };
        let mut changed = Vec::new();
        for part in ["phase", "table"] {
            let of = |file: &mut toml::Table| {
                let Some(toml::Value::Table(mut parts)) = file.remove(part) else {
                    return toml::Table::new();
                };
                // Where rows are is no difference. The data sets show which rows they are.
                for table in parts.iter_mut().filter_map(|(_, table)| table.as_table_mut()) {
                    table.remove("file");
                }
                parts
            };
            let (before, after) = (of(&mut before), of(&mut after));
            let heading = |name: &String| format!("[{part}.{}]", text::plain(name));
            let both = before.iter().filter_map(|(name, old)| Some((name, old, after.get(name)?)));
            let differ = both.filter(|(_, old, new)| old != new);
            changed.extend(differ.map(|(name, ..)| heading(name)));
            let only = |these: &toml::Table, others: &toml::Table| {
                let lacking = these.keys().filter(|name| !others.contains_key(*name));
                text::joined(lacking.map(heading), ", ")
            };
            let only = [("old", only(&before, &after)), ("new", only(&after, &before))];
            for (which, parts) in only.into_iter().filter(|(_, parts)| !parts.is_empty()) {
                found.remarks.push(format!("{about}: only the {which} one has {parts}"));
            }
        }
        if before != after {
            changed.push("what is neither a table nor a phase".to_owned());
        }
        if !changed.is_empty() {
            found.incomparable.push(format!("{about}: another {}", changed.join(", another ")));
        }
    }
}

/// Compares what cells that are in both kept and how their engines were set.
fn common_cells(found: &mut Differences, old: &ResultFile, new: &ResultFile) {
    let after: HashMap<&CellId, &Cell> = new.cells.iter().map(|cell| (&cell.id, cell)).collect();
    let mut known: HashSet<(&str, Durability)> = HashSet::new();
    for before in &old.cells {
        let Some(after) = after.get(&before.id) else { continue };
        let ran = |cell: &Cell| cell.trials.iter().any(|trial| !trial.phases.is_empty());
        let (engine, tier) = (before.id.engine.as_str(), before.id.durability);
        if !ran(before) || !ran(after) || !known.insert((engine, tier)) {
            continue;
        }
        let engine = text::plain(engine);
        let kept = |cell: &Cell| recorded(cell.effective_durability.unwrap_or(tier));
        let about = format!("durability of {engine} at {tier}");
        found.require_equal(&about, kept(before), kept(after));
        let settings = |cell: &Cell| cell.trials.first().map(|trial| trial.settings.clone());
        let [Some(old), Some(new)] = [before, after].map(settings) else { continue };
        let differ = old.iter().filter_map(|(name, old)| {
            let new = new.get(name).filter(|new| *new != old)?;
            Some(format!("{name} {old}, then {new}"))
        });
        let differ = text::joined(differ, "; ");
        if !differ.is_empty() {
            let says = format!("settings of {engine} at {tier}: {}", text::clipped(&differ, 200));
            found.remarks.push(text::plain(&says));
        }
    }
}

fn emulated(file: &ResultFile) -> Option<String> {
    let Some(emulated) = &file.manifest.machine.emulates else { return recorded("none") };
    let limits = emulated.limits.iter().map(|(name, limit)| format!("{name} {limit}"));
    Some(format!("{} ({})", emulated.device, text::joined(limits, ", ")))
}

/// Returns the path of a configuration's library.
fn library(own: &Configuration) -> String {
    own.library.as_ref().map_or("its own".into(), |path| path.display().to_string())
}

/// Returns the client of a configuration: `python`, `native`.
fn client(own: &Configuration) -> String {
    own.client.as_ref().map_or(Client::NATIVE.into(), ToString::to_string)
}

/// Describes whether trials had their own disks, whose times include a loop device. `None` if no
/// trial ran.
fn disk(file: &ResultFile) -> Option<String> {
    let mut trials = file.cells.iter().flat_map(|cell| &cell.trials);
    let isolated = trials.clone().any(|trial| trial.device_io.is_some());
    let ran = trials.any(|trial| !trial.phases.is_empty());
    recorded(if isolated { "its own (--isolate-disk)" } else { "that of all" }).filter(|_| ran)
}

/// Describes the server of an engine. `None` if the file has none of its cells. Only the host of a
/// URL is shown, because the rest may name a user.
fn server(file: &ResultFile, engine: &str) -> Option<String> {
    file.cells.iter().find(|cell| cell.id.engine == engine)?;
    let Some(url) = file.plan.urls.get(engine) else { return Some("private".to_owned()) };
    let shown = url.to_string();
    let host = shown.split_once("://").and_then(|(_, rest)| {
        rest.split(['/', '?', '#']).next()?.rsplit('@').next().filter(|host| !host.is_empty())
    });
    Some(host.map_or("by URL".to_owned(), |host| format!("by URL at {host}")))
}

fn dataset(set: &Dataset) -> String {
    let digest = set.sha256.as_ref().map(|digest| format!(", sha256 {digest}"));
    let dropped = total(set.dropped.values().copied());
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
    found.note_difference("embermark", &tool(old), &tool(new));
    found.note_difference("trials", &old.plan.trials.to_string(), &new.plan.trials.to_string());
    if let (Some(old), Some(new)) = (&old.manifest.machine.kernel, &new.manifest.machine.kernel) {
        found.note_difference("kernel", old, new);
    }
    for (name, configuration) in &new.plan.configurations {
        if old.plan.configurations.contains_key(name) && configuration.has_settings() {
            let says = format!("{name}: {configuration}, durability as its author claims");
            found.remarks.push(text::plain(&says));
        }
    }
    for (engine, old, new) in versions(old, new) {
        found.note_difference(engine, &old, &new);
    }
    if old.manifest.run_id == new.manifest.run_id {
        found.remarks.push(ONE_RUN.to_owned());
    }
    for (which, file) in [("old", old), ("new", new)] {
        if file.manifest.tool.profile == "debug" {
            found.remarks.push(format!("the {which} file is of a debug build"));
        }
        if let Some(drift) = drift::drift(file).filter(|drift| drift.is_notable()) {
            let says = format!("the machine drifted in the {which} run: {}", drift.describe());
            found.remarks.push(says);
        }
    }
}

/// Returns the versions of each engine that ran in both.
fn versions<'a>(old: &'a ResultFile, new: &'a ResultFile) -> Vec<(&'a str, String, String)> {
    let after = summary::versions(new);
    let both = summary::versions(old).into_iter().filter_map(|(engine, old)| {
        let (_, new) = after.iter().find(|(other, _)| *other == engine)?;
        Some((engine, old.join(" and "), new.join(" and ")))
    });
    both.collect()
}

/// Lists why two results cannot be pooled as one measurement: what makes them incomparable, other
/// versions of an engine, and other clients of a column.
pub fn unpoolable(one: &ResultFile, other: &ResultFile) -> Vec<String> {
    let mut reasons = conditions(one, other).incomparable;
    let differ = versions(one, other).into_iter().filter(|(_, one, other)| one != other);
    let clients = one.plan.configurations.iter().filter_map(|(name, before)| {
        let after = client(other.plan.configurations.get(name)?);
        let before = client(before);
        (before != after).then(|| text::plain(&format!("client of {name}: {before}, then {after}")))
    });
    reasons.extend(clients);
    reasons.extend(differ.map(|(engine, one, other)| {
        text::plain(&format!("version of {engine}: {one}, then {other}"))
    }));
    reasons
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_document_names_every_condition() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compare.md");
        let text = fs::read_to_string(path).unwrap();
        let (_, section) = text.split_once("\n## What is refused\n").unwrap();
        let section = section.split("\n## ").next().unwrap_or_default();
        let section = section.split_whitespace().collect::<Vec<_>>().join(" ");
        for (name, _) in CONDITIONS {
            assert!(section.contains(*name), "{name} is not in docs/compare.md");
        }
    }
}
