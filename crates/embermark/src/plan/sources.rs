//! Sources of a plan's options: the command line, a plan file, the default plan, and the additions
//! of longer runs.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::args::PlanArgs;
use super::{configurations, files, milliseconds};
use crate::error::Failure;

impl PlanArgs {
    /// Reads a plan file: TOML with the names of [`PlanArgs`] as keys.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| usage!("cannot read the plan {}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let why = redact_values(error.message());
            usage!("{}, line {line}: invalid plan: {why}", path.display())
        })
    }

    /// Plan file of `embermark run` without arguments.
    pub const DEFAULT: &str = include_str!("../../files/default.toml");

    /// Adds the [default plan](Self::DEFAULT), unless the arguments define the work or the number
    /// of trials. Workload files keep their own work and variants, and take everything else from
    /// it. If one of them runs until it is steady, they take nothing.
    pub fn or_default(self) -> Result<Self, Failure> {
        let is_file = |name: &String| files::is_file(name);
        let files = !self.workloads.is_empty() && self.workloads.iter().all(is_file);
        // Without `..Self::default()`, so that a new option is in one of the two groups.
        let about_engines = Self {
            // These leave the default plan its work.
            workloads: if files { self.workloads.clone() } else { Vec::new() },
            lenient: self.lenient.clone().filter(|_| files),
            engines: self.engines.clone(),
            configuration: self.configuration.clone(),
            client: self.client.clone(),
            engine_library: self.engine_library.clone(),
            tier: self.tier.clone(),
            lasts: self.lasts.clone(),
            cache: self.cache.clone(),
            memory_limit: self.memory_limit.clone(),
            storage: self.storage.clone(),
            network: self.network.clone(),
            seed: self.seed,
            effort: self.effort.clone(),
            url: self.url.clone(),
            accept_license: self.accept_license.clone(),
            card: self.card.clone(),
            // These replace it.
            scale: Vec::new(),
            scales_until: None,
            variant: Vec::new(),
            phases: Vec::new(),
            data: None,
            trials: None,
            runs: None,
            warmup_runs: None,
            max_run_time: None,
            window: None,
            warm_up: None,
            timeout: None,
            p99_limit: None,
            disk_size: None,
            clients: None,
            rate: None,
            cold: false,
            then: Vec::new(),
        };
        if self != about_engines || (files && files::until_steady(&self.workloads)?) {
            return Ok(self);
        }
        let mut default: Self = toml::from_str(Self::DEFAULT).map_err(Failure::runtime)?;
        if files {
            (default.workloads, default.variant) = (Vec::new(), Vec::new());
            default.then.clear();
        }
        if self.effort.is_some() {
            (default.lasts, default.runs) = (None, None);
        }
        self.or(default)
    }

    /// Parses the plan file settings of `--set`: `window=50ms`, `seed=7`.
    pub fn from_settings(settings: &[String]) -> Result<Self, Failure> {
        let mut table = toml::Table::new();
        for setting in settings {
            let Some((key, text)) = setting.split_once('=') else {
                return Err(usage!(
                    "--set {setting}: write KEY=VALUE, for example --set max-run-time=1s"
                ));
            };
            let value = format!("value = {text}").parse::<toml::Table>();
            let value = value.ok().and_then(|mut table| table.remove("value"));
            let value = value.unwrap_or_else(|| toml::Value::String(text.to_owned()));
            table.insert(key.to_owned(), value);
        }
        table
            .try_into()
            .map_err(|error: toml::de::Error| usage!("--set: {}", redact_values(error.message())))
    }

    /// Takes arguments that are not given from `other`. An empty text is given, and so replaces one
    /// of `other`.
    pub fn or(self, other: Self) -> Result<Self, Failure> {
        configurations::distinct(&self.configuration)?;
        let named = |args| serde_json::from_value(serde_json::to_value(args)?);
        let merged = || {
            let (given, mut all): (Map<_, _>, Map<_, _>) = (named(&self)?, named(&other)?);
            let none = [json!(null), json!([]), json!({}), json!(false)];
            let is_given = |value: &Value| !none.contains(value);
            all.extend(given.into_iter().filter(|(_, value)| is_given(value)));
            serde_json::from_value(all.into())
        };
        merged().map_err(Failure::runtime)
    }

    /// Adds the additions for a run of this length. Returns those that are left out, as text.
    pub(super) fn add_longer_work(
        &mut self,
        lasts_ms: Option<u64>,
    ) -> Result<Vec<String>, Failure> {
        let mut left_out = Vec::new();
        let (limits, storages) = (self.memory_limit.is_empty(), self.storage.is_empty());
        for then in std::mem::take(&mut self.then) {
            let from = milliseconds("from", &then.from)?;
            match lasts_ms {
                Some(lasts) if lasts >= from => {
                    self.workloads.extend(then.workloads);
                    self.memory_limit.extend(then.memory_limit.into_iter().filter(|_| limits));
                    self.storage.extend(then.storage.into_iter().filter(|_| storages));
                }
                Some(_) => left_out.push(then.to_string()),
                None => {}
            }
        }
        Ok(left_out)
    }
}

/// Removes the text that a parser's message quotes from a file, because it may have a URL's secret.
fn redact_values(message: &str) -> String {
    match (message.find("string \""), message.rfind('"')) {
        (Some(first), Some(last)) => {
            format!("{}string{}", &message[..first], &message[last + 1..])
        }
        _ => message.to_owned(),
    }
}
