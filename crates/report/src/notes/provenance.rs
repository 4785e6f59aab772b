//! Conditions of the measurement: engines, rows, the machine, and the harness's own cost.

use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::plan::Dataset;
use embermark_model::result::{Floor, Machine, Manifest, ResultFile};

use crate::note::{Note, note};
use crate::{drift, format, summary, text};

/// Returns the harness's own cost per operation of each phase and workload, or per point read in
/// older files.
fn floors(floor: &Floor) -> Option<String> {
    let phase = |(name, ns): (&String, &f64)| format!("{name} {}", format::duration(*ns));
    let workload = |(name, phases): (&String, &BTreeMap<String, f64>)| {
        format!("{name}: {}", text::joined(phases.iter().map(phase), ", "))
    };
    match floor.phases.is_empty() {
        true => floor.read_ns.map(|ns| format!("{} per point read", format::duration(ns))),
        false => {
            let all = text::joined(floor.phases.iter().map(workload), "; ");
            Some(format!("an operation of the engine that does nothing: {all}"))
        }
    }
}

pub(super) fn notes(file: &ResultFile, path: Option<&Path>) -> Vec<Note> {
    let Manifest { floor, datasets, machine, tool, started, finished, .. } = &file.manifest;
    let floor = floor.as_ref().and_then(floors);
    let commit = tool.commit.as_ref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    let unfinished = if finished.is_none() { ", not finished" } else { "" };
    let made = format!("{}{commit}, {}, {started}{unfinished}", tool.version, tool.profile);
    let limited = file.plan.lasts_ms.is_some();
    let no_drift = || limited.then(|| format!("not known: {}", drift::why_not_known(file)));
    let drift = drift::drift(file).map(|drift| drift.describe()).or_else(no_drift);
    let head = [("harness floor", floor), ("drift", drift)];
    let further = [
        ("engines", Some(versions(file))),
        ("client machines", client_machines(file)),
        ("hardware", Some(self::machine(machine))),
        ("embermark", Some(made)),
        ("result file", path.map(|path| path.display().to_string())),
    ];
    let said = |(about, says): (&str, Option<String>)| {
        Some(note(about, text::plain(&says.filter(|says| !says.is_empty())?)))
    };
    let datasets = datasets.iter().filter_map(|(workload, dataset)| data(workload, dataset));
    let head = head.into_iter().filter_map(said).chain(datasets);
    head.chain(further.into_iter().filter_map(said)).collect()
}

/// Returns what was dropped from a data set and what is unusual about the rest, if anything.
fn data(workload: &str, dataset: &Dataset) -> Option<Note> {
    let list = |(head, counts): (&str, &BTreeMap<String, u64>)| {
        let items = counts.iter().map(|(what, n)| format!("{} {what}", format::count(*n)));
        (!counts.is_empty()).then(|| format!("{head}: {}", text::joined(items, ", ")))
    };
    let parts = [("not used", &dataset.dropped), ("remarks", &dataset.remarks)];
    let says = text::joined(parts.into_iter().filter_map(list), "; ");
    (!says.is_empty()).then(|| note(text::plain(&format!("{workload} rows")), text::plain(&says)))
}

fn versions(file: &ResultFile) -> String {
    let show = |(engine, versions): (&str, Vec<&str>)| {
        let versions = versions.iter().map(|version| text::clipped(version, 60));
        // A configuration with settings has its own note.
        let own = file.plan.configurations.get(engine).filter(|own| !own.has_settings());
        let own = own.map(|own| format!(" ({own})")).unwrap_or_default();
        let library = library_of(file, engine).unwrap_or_default();
        format!("{engine} {}{own}{library}", text::joined(versions, " and "))
    };
    text::joined(summary::versions(file).into_iter().map(show), "; ")
}

/// Returns the library of an engine outside embermark: its file, and the beginning of its digest.
fn library_of(file: &ResultFile, engine: &str) -> Option<String> {
    let library = file.manifest.engines.get(engine)?.engine_library.as_ref()?;
    let digest: String = library.sha256.chars().take(16).collect();
    Some(format!(" (of {}, SHA-256 {digest}…)", library.file))
}

/// Returns the clients' machines, if there were several, each with what distinguishes it.
fn client_machines(file: &ResultFile) -> Option<String> {
    let Manifest { client_machines, machine: common, .. } = &file.manifest;
    let differs = |machine: &Machine| {
        let own = |of: fn(&Machine) -> Option<String>| of(machine).filter(|_| of(common).is_none());
        let of = [
            own(|machine| machine.board.clone()),
            own(|machine| machine.cpu.clone()),
            own(|machine| machine.cpus.map(|cpus| format::counted(cpus.into(), "CPU"))),
        ];
        text::joined(of.into_iter().flatten(), ", ")
    };
    let named = client_machines.iter().map(|(name, machine)| match differs(machine) {
        own if own.is_empty() => name.clone(),
        own => format!("{name} ({own})"),
    });
    let named = text::joined(named, ", ");
    let says =
        "below is what all of them have in common; the server is another machine or one of them";
    (!named.is_empty()).then(|| format!("{named}: {says}"))
}

/// Describes the machine in one line. Empty if nothing of it could be read.
pub(crate) fn machine(machine: &Machine) -> String {
    let of = |value: &Option<String>| value.as_deref().map(text::plain);
    let parts = [
        Some(hardware(machine)).filter(|hardware| !hardware.is_empty()),
        of(&machine.os),
        of(&machine.kernel),
        of(&machine.file_system).map(|system| match machine.journal {
            Some(false) => format!("{system} file system without a journal"),
            _ => format!("{system} file system"),
        }),
        of(&machine.device),
        // Pages of 4 KiB are the usual size.
        machine
            .page_bytes
            .filter(|bytes| *bytes != 4096)
            .map(|bytes| format!("pages of {} KiB", bytes >> 10)),
        machine.limits_in_words().map(|limits| format!("limited to {limits} (cgroup)")),
        machine.emulates.as_ref().map(|emulated| {
            format!("limited to emulate {}, not that device", text::plain(&emulated.device))
        }),
    ];
    text::joined(parts.into_iter().flatten(), ", ")
}

/// Describes the processor and the memory.
pub(crate) fn hardware(machine: &Machine) -> String {
    let parts = [
        machine.cpu.as_deref().map(text::plain),
        machine.cpus.map(|cpus| format::counted(u64::from(cpus), "CPU")),
        machine.memory_bytes.map(|bytes| format!("{} memory", format::bytes(bytes as f64))),
    ];
    text::joined(parts.into_iter().flatten(), ", ")
}
