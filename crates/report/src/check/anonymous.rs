//! Makes a result anonymous: removes what identifies the computer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use embermark_model::plan::DataSource;
use embermark_model::result::{Cell, ResultFile, Trial};
use embermark_model::{Configuration, ServerUrl};
use serde_json::Value;

use super::private::Names;
use crate::note::{Note, note};
use crate::{ReportError, format, notes, text};

/// Mount options that can name a user, a computer or a folder.
const PRIVATE_OPTIONS: [&str; 10] = [
    "uid",
    "gid",
    "resuid",
    "resgid",
    "user",
    "username",
    "domain",
    "addr",
    "clientaddr",
    "source",
];

/// An anonymous result.
#[derive(Clone, Debug)]
pub struct Anonymous {
    /// The result.
    pub file: ResultFile,
    /// What still identifies the computer or its owner. The owner must decide about it.
    pub left: Vec<Note>,
}

/// Removes from a result the names of computers and users, paths, URLs, addresses, device names,
/// wear counters and log file names. `names` are those of this computer and its user, which can be
/// in any text.
///
/// # Errors
/// If the result has no JSON form, which every valid result has.
pub fn anonymous(file: &ResultFile, names: &[String]) -> Result<Anonymous, ReportError> {
    let mut file = file.clone();
    let machines = file.manifest.client_machines.keys().cloned().zip(1..);
    let machines: BTreeMap<String, String> =
        machines.map(|(name, number)| (name, format!("machine {number}"))).collect();
    hide_plan(&mut file);
    manifest(&mut file, &machines);
    file.cells.iter_mut().for_each(|cell| in_cell(cell, &machines));
    let names: Vec<String> = names.iter().cloned().chain(machines.into_keys()).collect();
    let mut json = serde_json::to_value(&file)?;
    hide(&mut json, &Names(&names), "");
    let file: ResultFile = serde_json::from_value(json)?;
    let left = remaining_identifiers(&file);
    Ok(Anonymous { file, left })
}

fn hide_plan(file: &mut ResultFile) {
    let plan = &mut file.plan;
    if let DataSource::File(path) = &mut plan.data {
        *path = PathBuf::from("data");
    }
    for workload in plan.workload_files.values_mut() {
        workload.folder = PathBuf::new();
    }
    for url in plan.urls.values_mut() {
        *url = ServerUrl::from("");
    }
    for library in plan.engine_libraries.values_mut() {
        library.path = file_name(&library.path);
    }
    plan.configurations.values_mut().for_each(configuration);
}

/// Reduces the library and the client of a configuration to their file names.
fn configuration(own: &mut Configuration) {
    if let Some(library) = &mut own.library {
        *library = file_name(library);
    }
    if let Some(client) = &mut own.client
        && let Some(program) = client.program()
        && let Ok(named) = format!("./{}", file_name(program).display()).parse()
    {
        *client = named;
    }
}

fn file_name(path: &Path) -> PathBuf {
    path.file_name().map(PathBuf::from).unwrap_or_default()
}

fn manifest(file: &mut ResultFile, machines: &BTreeMap<String, String>) {
    let manifest = &mut file.manifest;
    let of_machines = std::mem::take(&mut manifest.client_machines).into_iter();
    manifest.client_machines = of_machines
        .filter_map(|(name, machine)| Some((machines.get(&name)?.clone(), machine)))
        .collect();
    for machine in [&mut manifest.machine].into_iter().chain(manifest.client_machines.values_mut())
    {
        machine.device = None;
        machine.mount_options = machine.mount_options.take().map(|options| public(&options));
    }
    for data in manifest.datasets.values_mut() {
        data.file = None;
    }
    for facts in manifest.engines.values_mut() {
        facts.configuration.iter_mut().for_each(configuration);
    }
    // Counters over the life of a disk identify it.
    manifest.wear = None;
    if let Some(drift) = &mut manifest.drift {
        in_trial(&mut drift.again, machines);
    }
}

/// Removes mount options that name a person, a computer or a folder.
fn public(options: &str) -> String {
    let is_public = |option: &&str| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        !PRIVATE_OPTIONS.contains(&name) && !value.contains('/')
    };
    options.split(',').filter(is_public).collect::<Vec<_>>().join(",")
}

fn in_cell(cell: &mut Cell, machines: &BTreeMap<String, String>) {
    let apart = [&mut cell.counting, &mut cell.explaining].into_iter().flatten();
    let trials = cell.trials.iter_mut().chain(&mut cell.lost_trials);
    for trial in trials.chain(apart.map(|trial| &mut **trial)) {
        in_trial(trial, machines);
    }
}

fn in_trial(trial: &mut Trial, machines: &BTreeMap<String, String>) {
    trial.log = None;
    let runs = trial.phases.iter_mut().flat_map(|phase| &mut phase.runs);
    let together = runs.filter_map(|run| run.client_machines.as_mut());
    for machine in together.flat_map(|together| &mut together.machines) {
        machine.device =
            machines.get(&machine.device).cloned().unwrap_or_else(|| "machine".to_owned());
    }
}

/// Replaces private parts in every text, except in fields with a known format.
fn hide(value: &mut Value, names: &Names<'_>, field: &str) {
    match value {
        // A version of four parts looks like an address, and histograms are base64.
        Value::String(_) if matches!(field, "version" | "hdr" | "sha256" | "run_id") => {}
        Value::String(text) => *text = names.hidden(text),
        Value::Array(all) => all.iter_mut().for_each(|one| hide(one, names, field)),
        Value::Object(all) => all.iter_mut().for_each(|(name, one)| hide(one, names, name)),
        _ => {}
    }
}

/// Lists what still identifies a computer or its owner.
fn remaining_identifiers(file: &ResultFile) -> Vec<Note> {
    let (manifest, plan) = (&file.manifest, &file.plan);
    let mut left = Vec::new();
    let mut says = |about: &str, what: String| {
        if !what.is_empty() {
            left.push(note(about, text::plain(&what)));
        }
    };
    let list = |all: Vec<String>| text::joined(text::unique(all), ", ");
    says("board", manifest.machine.board.clone().unwrap_or_default());
    says("machine", notes::machine(&manifest.machine));
    says("mount options", manifest.machine.mount_options.clone().unwrap_or_default());
    says(
        "time",
        format!("{} to {}", manifest.started, manifest.finished.as_deref().unwrap_or("?")),
    );
    says("run", manifest.run_id.clone());
    let machines = manifest.client_machines.values().map(notes::machine).collect();
    says("client machines", list(machines));
    let meters = manifest.energy.iter().flat_map(|energy| &energy.sources);
    says("power meters", list(meters.map(|source| source.about.clone()).collect()));
    says("columns", list(plan.engines.clone()));
    let libraries = plan.engine_libraries.values();
    let libraries = libraries.map(|one| format!("{} (SHA-256 {})", one.path.display(), one.sha256));
    says("engine libraries", list(libraries.collect()));
    let own = plan.configurations.iter().map(|(name, own)| format!("{name}: {own}"));
    says("configurations", list(own.collect()));
    let data = manifest.datasets.iter().map(|(workload, data)| {
        let digest = data.sha256.as_ref().map(|digest| format!(", SHA-256 {digest}"));
        let rows = format::counted(data.rows, "row");
        format!("{workload}: {}, {rows}{}", data.name, digest.unwrap_or_default())
    });
    says("data", list(data.collect()));
    let files = plan.workload_files.keys().cloned().collect();
    says("workload files, with their whole text: tables, columns, names of files", list(files));
    let reasons = file.cells.iter().filter_map(|cell| cell.reason.clone());
    let texts = reasons.chain(manifest.warnings.iter().cloned()).collect::<Vec<_>>();
    says(
        "texts of engines and warnings",
        if texts.is_empty() { String::new() } else { list(texts) },
    );
    left
}
