//! Makes a [`Plan`] from the command line and a plan file.

use std::path::PathBuf;

use embermark_engines::Engine;
use embermark_harness::{Catalog, cells};
use embermark_model::plan::{DataSource, Plan, Rate};
use embermark_model::{Configuration, Configurations, Durability, Scale, choice};
use embermark_workloads::Workload;

use crate::error::Failure;

mod args;
mod clients;
mod configurations;
mod engine_libraries;
mod files;
mod memory;
mod models;
mod scales;
mod sources;
mod urls;

pub use args::{CONDITIONS, ENGINES, PlanArgs, TIME, WORK};
use clients::with_clients;
pub use clients::{clients, refuse_clients};
use configurations::{candidates, columns};
pub use configurations::{configurations, parse_configuration};
pub use engine_libraries::{engine_libraries, ids_or};
use files::ChosenWorkloads;
pub use files::{
    built_in_file, check_rows, check_workload, misfits_per_million, workloads_of_plan,
};
use memory::size_from;
pub use memory::{cache, memory_limits, size};
pub use models::{model, storages};
use scales::{check_effect, decades, scales_by_id, with_scales};
use urls::refuse_urls_of_clients;
pub use urls::urls;

/// Number of trials, and of runs per phase and trial, by the name of the effort.
const EFFORTS: [(&str, u32, u32); 3] = [("quick", 1, 2), ("normal", 3, 6), ("thorough", 10, 6)];

impl PlanArgs {
    /// Returns the plan of these arguments, after checking every name.
    pub fn plan(mut self) -> Result<Plan, Failure> {
        let until = self.scales_until.clone();
        let whole_run = self.lasts.as_deref().filter(|_| until.is_none());
        let whole_run = whole_run.map(|text| milliseconds("--for", text)).transpose()?;
        let left_out = self.add_longer_work(whole_run)?;
        let libraries = engine_libraries(&self.engine_library)?;
        // A file is used whole. For synthetic rows every workload has its own scales.
        let whole = self.data.is_some() && self.scales_until.is_none();
        let has_scale = !self.scale.is_empty();
        let scales = or_else(self.scale, if whole { &["full"] } else { &[] });
        let scales = unique(scales.iter().map(|s| s.parse::<Scale>().map_err(Failure::usage)))?;
        let until = until.as_deref();
        let budget = until.map(|_| milliseconds("--for", self.lasts.as_deref().unwrap_or("30m")));
        let scales = until.map_or(Ok(scales.clone()), |until| decades(&scales, until))?;
        let durabilities = or_else(self.tier, &["process"]);
        let lenient = misfits_per_million(self.lenient.as_deref())?;
        let with_scales = with_scales(&self.workloads)?;
        if has_scale || until.is_some() {
            check_effect(if has_scale { "--scale" } else { "--scales-until" }, &with_scales)?;
        }
        let (names, scales_of) = with_scales;
        let ChosenWorkloads { mut workloads, files } = files::chosen(&names, lenient)?;
        if whole_run.is_some() && (self.trials.is_some() || self.effort.is_some()) {
            let option = if self.trials.is_some() { "--trials" } else { "--effort" };
            return Err(usage!(
                "--for gives each cell as many trials as its order takes: leave out {option}, or --for"
            ));
        }
        let (usual_trials, usual_runs) = effort(self.effort.as_deref().unwrap_or("normal"))?;
        if self.lenient.is_some() && files.is_empty() {
            return Err(usage!("--lenient is for workload files: name one, or leave it out"));
        }
        if self.data.is_some() && names.is_empty() {
            workloads.retain(|workload| workload.info().reads_files);
        }

        let runs = self.runs.unwrap_or(usual_runs);
        let warmup_runs = self.warmup_runs.unwrap_or(u32::from(runs > 1));
        // Every workload on synthetic rows is an overview, which is kept short.
        let overview = names.is_empty() && self.data.is_none();
        let usual = Plan::default();
        // Slow loops are then stopped early, and shown per operation.
        let usual_run_time = if overview { Some(500) } else { usual.max_run_time_ms };
        let limit = |key: &str, given: Option<&str>, usual: Option<u64>| match given {
            Some("none") => Ok(None),
            Some(given) => milliseconds(key, given).map(Some),
            None => Ok(usual),
        };
        let time =
            |flag, given: Option<&str>| given.map(|text| milliseconds(flag, text)).transpose();
        let rate = self.rate.as_deref().map(str::parse::<Rate>);
        let rate = rate.transpose().map_err(Failure::usage)?;
        let lasts = workloads.iter().any(|workload| workload.info().lasts);
        let takes_rate = |w: &&dyn Workload| {
            let info = w.info();
            !info.points.is_empty() || info.until_steady || !info.arrivals.is_empty()
        };
        let target_rate = match rate {
            // If no workload takes the rate, it is kept so that a later check refuses it.
            Some(Rate::PerSecond(rate)) if !lasts || workloads.iter().any(takes_rate) => Some(rate),
            _ => None,
        };
        let words = or_else(self.engines, &["embedded"]);
        let configurations = configurations(self.configuration, &words)?;
        let engines = columns(&words, &configurations)?;
        let clients = clients(&self.client)?;
        let (engines, configurations) = with_clients(engines, configurations, &clients)?;
        let urls = urls(&self.url)?;
        refuse_urls_of_clients(&urls, &configurations)?;
        // It must have room for a database and its log.
        let disk_bytes = self.disk_size.as_deref().map(|text| size_from(64, "disk-size", text));
        let plan = Plan {
            workloads: workloads.iter().map(|w| w.id().to_owned()).collect(),
            workload_files: files,
            engines,
            configurations,
            engine_libraries: libraries,
            scales,
            scales_of: scales_by_id(&scales_of, &names, &workloads),
            budget_ms: budget.transpose()?,
            lasts_ms: whole_run,
            left_out,
            durabilities: unique(
                durabilities.iter().map(|d| d.parse::<Durability>().map_err(Failure::usage)),
            )?,
            variants: unique(self.variant.into_iter().map(Ok))?,
            repeats: None,
            overview,
            phases: (!self.phases.is_empty()).then_some(self.phases),
            data: self.data.map_or(DataSource::Synthetic, DataSource::File),
            runs,
            warmup_runs,
            trials: self.trials.unwrap_or(usual_trials),
            max_run_time_ms: limit("max-run-time", self.max_run_time.as_deref(), usual_run_time)?,
            own_trials: self.trials.is_none() && self.effort.is_none(),
            window_ms: time("window", self.window.as_deref())?,
            warm_up_ms: match self.warm_up.as_deref() {
                Some("0" | "none") => Some(0),
                given => time("warm-up", given)?,
            },
            // Rate of samples. If no workload makes samples, only `target_rate` has the rate.
            rate: rate.filter(|rate| lasts || *rate == Rate::Max).unwrap_or_default(),
            clients: self.clients.unwrap_or(usual.clients),
            target_rate,
            p99_limit_ms: time("p99-limit", self.p99_limit.as_deref())?
                .unwrap_or(usual.p99_limit_ms),
            timeout_ms: limit("timeout", self.timeout.as_deref(), usual.timeout_ms)?,
            seed: self.seed.unwrap_or(usual.seed),
            memory_bytes: self.cache.as_deref().map_or(Ok(usual.memory_bytes), cache)?,
            memory_limits: memory_limits(&self.memory_limit, self.cache.as_deref())?,
            storages: storages(&self.storage)?,
            network: self.network.as_deref().map(models::link).transpose()?.flatten(),
            disk_bytes: disk_bytes.transpose()?,
            cold: self.cold,
            cards: models::cards(&self.card)?,
            urls,
            accepted_licences: unique(self.accept_license.into_iter().map(Ok))?,
        };
        let catalog = Catalog::default().with_files(&plan).map_err(Failure::usage)?;
        cells::check(&plan, &catalog).map_err(Failure::usage)?;
        Ok(plan)
    }
}

/// Returns the trials, and the runs per trial, of an effort.
fn effort(name: &str) -> Result<(u32, u32), Failure> {
    let found = EFFORTS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, trials, runs)| (*trials, *runs)).ok_or_else(|| {
        Failure::usage(choice::unknown("effort", name, EFFORTS.iter().map(|(known, ..)| *known)))
    })
}

/// Returns the words, the configurations and the columns of a command that uses engines itself.
/// Checks the licences that were accepted.
pub fn direct_columns(
    command: &str,
    engines: &[String],
    libraries: &[PathBuf],
    configuration: &[(String, Configuration)],
    accepted: &[String],
) -> Result<(Vec<String>, Configurations, Vec<String>), Failure> {
    engine_libraries(libraries)?;
    let words = match configuration.is_empty() {
        true => ids_or(engines.to_vec(), libraries, "embedded")?,
        false => engines.to_vec(),
    };
    let configurations = configurations(configuration.to_vec(), &words)?;
    refuse_clients(&configurations, command)?;
    cells::check_configurations(&configurations, &Catalog::default())?;
    let columns = candidates(&words, &configurations)?;
    cells::check_licences(accepted, &Catalog::default())?;
    Ok((words, configurations, columns))
}

/// Returns why the licence of an engine keeps it from being opened, if it does.
pub fn not_accepted(engine: &dyn Engine, accepted: &[String]) -> Option<String> {
    let id = engine.info().id;
    (engine.forbids_publishing() && accepted.iter().all(|other| other != id)).then(|| {
        format!(
            "its licence forbids publishing findings without its vendor's consent; if you have \
             accepted it, add --accept-license {id}"
        )
    })
}

/// Returns the given words, or the default if there are none.
pub fn or_else(given: Vec<String>, default: &[&str]) -> Vec<String> {
    if given.is_empty() { default.iter().map(|&word| word.to_owned()).collect() } else { given }
}

/// Removes duplicates and keeps the order, so that naming something twice measures it once.
pub fn unique<T: PartialEq>(
    things: impl Iterator<Item = Result<T, Failure>>,
) -> Result<Vec<T>, Failure> {
    let mut kept = Vec::new();
    for thing in things {
        let thing = thing?;
        if !kept.contains(&thing) {
            kept.push(thing);
        }
    }
    Ok(kept)
}

/// Returns every variant of the named workloads.
pub fn variants_of(names: &[String]) -> Result<Vec<String>, Failure> {
    let variants = files::chosen(names, 0)?
        .workloads
        .into_iter()
        .flat_map(|workload| workload.info().variants);
    unique(variants.map(|variant| Ok(variant.name.to_owned())))
}

pub fn milliseconds(option: &str, text: &str) -> Result<u64, Failure> {
    let time = text.parse::<jiff::SignedDuration>().ok().map(|time| time.as_millis());
    match time.map(u64::try_from) {
        Some(Ok(ms)) if ms > 0 => Ok(ms),
        _ => Err(usage!("{option} '{text}' is not a time: write for example 20s, 500ms or 2m")),
    }
}

#[cfg(test)]
mod tests;
