//! Builds the command that repeats one cell of a result.

use std::fmt::Display;

use embermark_model::plan::{DataSource, Plan, Rate};
use embermark_model::result::{Cell, ResultFile};
use embermark_model::{Client, Configuration, MemoryLimit};

use crate::text;

/// Longest command that is shown, in characters.
const LONGEST: usize = 2_000;

/// Builds a command like `embermark run sensors -s 10k -t process -e lmdb --variant single --trials
/// 3 …`. Paths of the measuring machine are replaced with `FILE`, `DIR` and `URL`.
pub(super) fn repeat_command(file: &ResultFile, cell: &Cell) -> String {
    let (plan, id) = (&file.plan, &cell.id);
    let own_file = plan.workload_files.contains_key(&id.workload);
    let mut words = Words(vec!["embermark".to_owned(), "run".to_owned()]);
    words.word(if own_file { text::file_name(&id.workload) } else { id.workload.clone() });
    words.option("-s", id.scale);
    words.option("-t", id.durability);
    column(&mut words, plan, &id.engine);
    words.any("--variant", (!plan.variants.is_empty()).then(|| variants(file, cell)));
    words.any("--phases", plan.phases.as_ref().map(|phases| phases.join(",")));
    words.any("--data", matches!(plan.data, DataSource::File(_)).then_some("FILE"));
    words.any("--memory-limit", id.memory_limit.map(|limit| size(limit.0)));
    words.any("--storage", id.storage);
    words.any("--network", plan.network.as_ref().map(|link| &link.name));
    words.any("--device", file.manifest.machine.emulates.as_ref().map(|of| &of.device));
    asked(&mut words, plan, cell);
    text::clipped(&words.0.join(" "), LONGEST)
}

/// The words of a command line.
struct Words(Vec<String>);

impl Words {
    fn word(&mut self, word: impl Display) {
        self.0.push(text::word(&word.to_string()));
    }

    fn option(&mut self, name: &str, value: impl Display) {
        self.0.push(name.to_owned());
        self.word(value);
    }

    /// Adds an option that has a value.
    fn any(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.option(name, value);
        }
    }

    fn set(&mut self, key: &str, value: impl Display) {
        self.option("--set", format!("{key}={value}"));
    }
}

/// Adds what defines the column: an engine, one of its configurations, or a configuration of the
/// user.
fn column(words: &mut Words, plan: &Plan, column: &str) {
    let Some(own) = plan.configurations.get(column) else {
        words.option("-e", column);
        if plan.urls.contains_key(column) {
            words.option("--url", format!("{column}=URL"));
        }
        if plan.engine_libraries.contains_key(column) {
            words.option("--engine-library", "FILE");
        }
        return;
    };
    let Configuration { engine, settings, library, client } = own;
    let suffix = client.as_ref().map(|client| format!("-{}", client.suffix()));
    let bare = suffix.as_ref().and_then(|suffix| column.strip_suffix(suffix.as_str()));
    let bare = bare.unwrap_or(column);
    let is_built_in = bare == engine
        || ["-defaults", "-system"].iter().any(|end| bare.strip_suffix(end) == Some(engine));
    words.option("-e", bare);
    if !is_built_in {
        let library = library.as_ref().map(|_| "library=DIR".to_owned());
        let settings = settings.iter().map(|(name, value)| format!("{name}={value}"));
        let settings = text::joined(library.into_iter().chain(settings), ",");
        words.option("--configuration", format!("{bare}={engine}:{settings}"));
    }
    let program = |client: &Client| match client.program() {
        Some(_) => "./PROGRAM".to_owned(),
        None => client.to_string(),
    };
    words.any("--client", client.as_ref().map(program));
}

/// Returns the cell's variant. If that runs only the phases that it changes, the variant that runs
/// every phase comes before it.
fn variants(file: &ResultFile, cell: &Cell) -> String {
    let own = &cell.id.variant;
    let has = |variant: &&String| {
        let mut cells = file.cells.iter().map(|cell| &cell.id);
        cells.any(|id| id.workload == cell.id.workload && id.variant == **variant)
    };
    match file.plan.variants.iter().find(has) {
        Some(main) if main != own => format!("{main},{own}"),
        _ => own.clone(),
    }
}

/// Adds the number of trials and runs, their times, and the memory.
fn asked(words: &mut Words, plan: &Plan, cell: &Cell) {
    let trials = cell.trials.len() + cell.lost_trials.len();
    words.option("--trials", trials.max(1));
    words.option("--runs", plan.runs);
    words.option("--cache", size(plan.memory_bytes));
    words.any("--clients", (plan.clients > 1).then_some(plan.clients));
    let rate = match plan.rate {
        Rate::PerSecond(rate) if plan.rate != Rate::default() => Some(rate),
        _ => None,
    };
    words.any("--rate", plan.target_rate.or(rate));
    if plan.cold {
        words.0.push("--cold".to_owned());
    }
    // A single run has no warm-up.
    if plan.runs > 1 && plan.warmup_runs != 1 {
        words.set("warmup-runs", plan.warmup_runs);
    }
    let time = |ms: u64| format!("{ms}ms");
    words.set("max-run-time", plan.max_run_time_ms.map_or_else(|| "none".to_owned(), time));
    if let Some(window) = plan.window_ms {
        words.set("window", time(window));
    }
    if let Some(warm_up) = plan.warm_up_ms {
        words.set("warm-up", time(warm_up));
    }
    words.set("seed", plan.seed);
}

/// Formats a size: `64MiB`.
fn size(bytes: u64) -> String {
    MemoryLimit(bytes).to_string().replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::tests::{cell, file, trial};

    #[test]
    fn a_cell_is_named_with_what_was_asked_for() {
        let mut file = file(vec![cell("sqlite", "single", vec![trial(Vec::new())])]);
        file.plan.seed = 7;
        let command = repeat_command(&file, &file.cells[0]);
        let scale = file.cells[0].id.scale;
        assert!(command.starts_with(&format!("embermark run w -s {scale} -t ")), "{command}");
        for words in ["-e sqlite", "--trials 1", "--set seed=7"] {
            assert!(command.contains(words), "no '{words}' in {command}");
        }
    }

    #[test]
    fn a_column_with_a_client_and_settings_is_given_as_it_was() {
        let mut file = file(vec![
            cell("fast-python", "single", Vec::new()),
            cell("sqlite-defaults-node", "single", Vec::new()),
        ]);
        let own = |client: &str| Configuration {
            settings: [("synchronous".to_owned(), "OFF".to_owned())].into(),
            client: client.parse().ok(),
            ..Configuration::new("sqlite")
        };
        file.plan.configurations = [
            ("fast-python".to_owned(), own("python")),
            ("sqlite-defaults-node".to_owned(), own("node")),
        ]
        .into();
        let command = repeat_command(&file, &file.cells[0]);
        let given = "-e fast --configuration fast=sqlite:synchronous=OFF --client python";
        assert!(command.contains(given), "{command}");
        let command = repeat_command(&file, &file.cells[1]);
        assert!(command.contains("-e sqlite-defaults --client node"), "{command}");
    }
}
