//! Makes a result anonymous: removes what identifies the computer, and replaces what identifies a
//! person, a place or a computer in texts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use embermark_model::plan::{DataSource, Plan};
use embermark_model::result::{ResultFile, Trial};
use embermark_model::{Configuration, ServerUrl};
use serde_json::Value;

use crate::note::{Note, note};
use crate::{ReportError, format, notes, text};

mod private;

pub use private::Private;

/// Mount options that can name a user, a computer or a folder.
const PRIVATE_OPTIONS: &str = "uid,gid,resuid,resgid,user,username,domain,addr,clientaddr,source";

/// Fields with a known format, which stay as they are. A version of four parts looks like an
/// address, histograms are base64, and an id such as `postgres` can be the name of a user too.
const KEPT_FIELDS: &[&str] = &[
    "version",
    "hdr",
    "sha256",
    "run_id",
    "workload",
    "workloads",
    "durability",
    "durabilities",
    "effective_durability",
    "variant",
    "variants",
    "engine",
    "engines",
    "phase",
    "phases",
    "status",
];

/// Fields with paths.
const PATH_FIELDS: &[&str] = &["file", "folder", "path", "library", "client", "settings"];

/// An anonymous result.
#[derive(Clone, Debug)]
pub struct Anonymous {
    /// The result.
    pub file: ResultFile,
    /// What still identifies the computer or its owner. The owner must decide about it.
    pub left: Vec<Note>,
}

/// Removes from a result the names of computers and users, paths, URLs, addresses, device names,
/// wear counters and log file names. `known` is what names this computer and its user, which can be
/// in any text.
///
/// # Errors
/// If the result has no JSON form, which every valid result has.
pub fn anonymous(file: &ResultFile, known: &Private) -> Result<Anonymous, ReportError> {
    let mut private = known.clone();
    own_paths(&serde_json::to_value(file)?, false, &mut private.paths);
    let mut file = file.clone();
    let machines = file.manifest.client_machines.keys().cloned().zip(1..);
    let machines: BTreeMap<String, String> =
        machines.map(|(name, number)| (name, format!("machine {number}"))).collect();
    hide_plan(&mut file);
    manifest(&mut file, &machines);
    for cell in &mut file.cells {
        let apart = [&mut cell.counting, &mut cell.explaining].into_iter().flatten();
        let trials = cell.trials.iter_mut().chain(&mut cell.lost_trials);
        let trials = trials.chain(apart.map(|trial| &mut **trial));
        trials.for_each(|trial| in_trial(trial, &machines));
    }
    private.names.extend(machines.into_keys());
    let mut json = serde_json::to_value(&file)?;
    hide(&mut json, &private, "");
    let file: ResultFile = serde_json::from_value(json)?;
    let left = remaining_identifiers(&file);
    Ok(Anonymous { file, left })
}

/// Collects the absolute paths in fields that have paths. Other texts name them too.
fn own_paths(value: &Value, is_path: bool, all: &mut Vec<String>) {
    match value {
        Value::String(text) if is_path && text.starts_with('/') => all.push(text.clone()),
        Value::Array(own) => own.iter().for_each(|one| own_paths(one, is_path, all)),
        Value::Object(own) => own.iter().for_each(|(name, one)| {
            own_paths(one, is_path || PATH_FIELDS.contains(&name.as_str()), all);
        }),
        _ => {}
    }
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
    let named = std::mem::take(&mut manifest.client_machines).into_iter();
    let numbered = named.filter_map(|(name, of)| Some((machines.get(&name)?.clone(), of)));
    manifest.client_machines = numbered.collect();
    let all = [&mut manifest.machine].into_iter().chain(manifest.client_machines.values_mut());
    for machine in all {
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
        !PRIVATE_OPTIONS.split(',').any(|known| known == name) && !value.contains('/')
    };
    options.split(',').filter(is_public).collect::<Vec<_>>().join(",")
}

fn in_trial(trial: &mut Trial, machines: &BTreeMap<String, String>) {
    trial.log = None;
    let runs = trial.phases.iter_mut().flat_map(|phase| &mut phase.runs);
    let together = runs.filter_map(|run| run.client_machines.as_mut());
    for machine in together.flat_map(|together| &mut together.machines) {
        let number = machines.get(&machine.device).cloned();
        machine.device = number.unwrap_or_else(|| "machine".to_owned());
    }
}

/// Replaces private parts in every text, except in fields with a known format.
fn hide(value: &mut Value, private: &Private, field: &str) {
    match value {
        Value::String(_) if KEPT_FIELDS.contains(&field) => {}
        Value::String(text) => *text = private.hidden(text),
        Value::Array(all) => all.iter_mut().for_each(|one| hide(one, private, field)),
        Value::Object(all) => all.iter_mut().for_each(|(name, one)| hide(one, private, name)),
        _ => {}
    }
}

/// Lists what still identifies a computer or its owner.
fn remaining_identifiers(file: &ResultFile) -> Vec<Note> {
    let manifest = &file.manifest;
    // Without `..`, so that a new option is listed below or has no text that needs to be.
    let Plan {
        // Names that are listed with the files and data sets that they are from.
        workloads: _,
        scales_of: _,
        variants: _,
        phases: _,
        left_out: _,
        // Removed.
        data: _,
        urls: _,
        // Numbers, and words of this program.
        scales: _,
        durabilities: _,
        repeats: _,
        overview: _,
        runs: _,
        warmup_runs: _,
        trials: _,
        own_trials: _,
        max_run_time_ms: _,
        window_ms: _,
        warm_up_ms: _,
        rate: _,
        clients: _,
        target_rate: _,
        p99_limit_ms: _,
        timeout_ms: _,
        seed: _,
        memory_bytes: _,
        memory_limits: _,
        cold: _,
        budget_ms: _,
        lasts_ms: _,
        disk_bytes: _,
        accepted_licences: _,
        workload_files,
        engines,
        configurations,
        engine_libraries,
        storages,
        network,
        cards,
    } = &file.plan;
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
    let finished = manifest.finished.as_deref().unwrap_or("?");
    says("time", format!("{} to {finished}", manifest.started));
    says("run", manifest.run_id.clone());
    let machines = manifest.client_machines.values().map(notes::machine).collect();
    says("client machines", list(machines));
    let meters = manifest.energy.iter().flat_map(|energy| &energy.sources);
    says("power meters", list(meters.map(|source| source.about.clone()).collect()));
    says("columns", list(engines.clone()));
    let libraries = engine_libraries.values();
    let libraries = libraries.map(|one| format!("{} (SHA-256 {})", one.path.display(), one.sha256));
    says("engine libraries", list(libraries.collect()));
    let own = configurations.iter().map(|(name, own)| format!("{name}: {own}"));
    says("configurations", list(own.collect()));
    let models = storages.iter().flatten().map(|one| format!("{}: {}", one.name, one.about));
    let models = models.chain(network.iter().map(|link| format!("{}: {}", link.name, link.about)));
    let models = models.chain(cards.iter().map(|card| card.name.clone()));
    says("models of storages, links and cards", list(models.collect()));
    let data = manifest.datasets.iter().map(|(workload, data)| {
        let digest = data.sha256.as_ref().map(|digest| format!(", SHA-256 {digest}"));
        let rows = format::counted(data.rows, "row");
        format!("{workload}: {}, {rows}{}", data.name, digest.unwrap_or_default())
    });
    says("data", list(data.collect()));
    let files = workload_files.keys().cloned().collect();
    says("workload files, with their whole text: tables, columns, names of files", list(files));
    let reasons = file.cells.iter().filter_map(|cell| cell.reason.clone());
    let texts = reasons.chain(manifest.warnings.iter().cloned());
    says("texts of engines and warnings", list(texts.collect()));
    left
}
