//! Sources of a plan's options: the command line, a plan file, the default plan, and the additions
//! of longer runs.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::args::PlanArgs;
use super::{configurations, files, milliseconds};
use crate::error::Failure;

/// Keys that leave the default plan its work. Any other key replaces it, also a new one.
const BESIDE_WORK: [&str; 15] = [
    "engines",
    "configuration",
    "client",
    "engine-library",
    "tier",
    "for",
    "cache",
    "memory-limit",
    "storage",
    "network",
    "seed",
    "effort",
    "url",
    "accept-license",
    "card",
];

impl PlanArgs {
    /// Reads a plan file: TOML with the names of [`PlanArgs`] as keys.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| usage!("cannot read the plan {}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            let why = redact_values(error.message());
            let hint = match why.ends_with("expected a sequence") {
                true => "; write a list in brackets, such as [\"10k\"]",
                false => "",
            };
            usage!("{}, line {line}: invalid plan: {why}{hint}", path.display())
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
        let mut beside = BESIDE_WORK.to_vec();
        if files {
            beside.extend(["workloads", "lenient"]);
        }
        let replaces_work = self.key_beside(&beside)?.is_some();
        if replaces_work || (files && files::until_steady(&self.workloads)?) {
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
        let merged = || {
            let mut all = other.given()?;
            all.extend(self.given()?);
            serde_json::from_value(all.into())
        };
        merged().map_err(Failure::runtime)
    }

    /// Returns the values that are given, by the keys of a plan file.
    fn given(&self) -> serde_json::Result<Map<String, Value>> {
        let none = [json!(null), json!([]), json!({}), json!(false)];
        let mut given: Map<String, Value> = serde_json::from_value(serde_json::to_value(self)?)?;
        given.retain(|_, value| !none.contains(value));
        Ok(given)
    }

    /// Returns a key of a plan file that is given and not among these, if there is one.
    pub fn key_beside(&self, keys: &[&str]) -> Result<Option<String>, Failure> {
        let given = self.given().map_err(Failure::runtime)?;
        Ok(given.into_iter().map(|(key, _)| key).find(|key| !keys.contains(&key.as_str())))
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
