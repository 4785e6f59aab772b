//! Builds the command that repeats one cell of a result.

use std::fmt::Display;

use embermark_model::plan::{DataSource, Plan, Rate};
use embermark_model::result::{Cell, PhaseResult, ResultFile, Run};
use embermark_model::{Client, Configuration, MemoryLimit};

use crate::text;

/// Longest command that is shown, in characters.
const LONGEST: usize = 2_000;

/// Builds a command like `embermark run sensors -s 10k -t process -e lmdb --variant single --trials
/// 3 …`. Paths of the measuring machine are replaced with `FILE`, `DIR` and `URL`. Options of the
/// plan that have no effect on this cell are left out, because a run refuses them.
pub(super) fn repeat_command(file: &ResultFile, cell: &Cell) -> String {
    let (plan, id) = (&file.plan, &cell.id);
    let own_file = plan.workload_files.contains_key(&id.workload);
    let command = if plan.rate == Rate::Max { "rate" } else { "run" };
    let mut words = Words(vec!["embermark".to_owned(), command.to_owned()]);
    words.word(if own_file { text::file_name(&id.workload) } else { id.workload.clone() });
    words.option("-s", id.scale);
    words.option("-t", id.durability);
    column(&mut words, plan, &id.engine);
    words.any("--variant", (!plan.variants.is_empty()).then(|| variants(file, cell)));
    words.any("--phases", phases(plan, cell));
    let rows = file.manifest.datasets.get(&id.workload).filter(|_| !own_file);
    let is_read = matches!(plan.data, DataSource::File(_));
    words.any("--data", rows.filter(|rows| is_read && rows.file.is_some()).map(|_| "FILE"));
    words.any("--memory-limit", id.memory_limit.map(|limit| size(limit.0)));
    words.any("--storage", id.storage);
    let is_linked = cell.trials.iter().any(|trial| trial.network.is_some());
    words.any("--network", plan.network.as_ref().filter(|_| is_linked).map(|link| &link.name));
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

/// Returns the selected phases that the cell has, or all selected ones if it has no trial.
fn phases(plan: &Plan, cell: &Cell) -> Option<String> {
    let selected = plan.phases.as_ref()?;
    let has = |name: &&String| measured(cell).any(|part| part.phase == **name);
    let own: Vec<&str> = selected.iter().filter(has).map(String::as_str).collect();
    Some(if own.is_empty() { selected.join(",") } else { own.join(",") })
}

/// Returns the phases of every trial of a cell.
fn measured(cell: &Cell) -> impl Iterator<Item = &PhaseResult> {
    cell.trials.iter().flat_map(|trial| &trial.phases)
}

/// Whether a run of the cell has this property.
fn has_run(cell: &Cell, has: impl Fn(&PhaseResult, &Run) -> bool) -> bool {
    measured(cell).any(|part| part.runs.iter().any(|run| has(part, run)))
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
    // A phase of fixed length does as many operations as it can, not a planned number.
    let is_windowed = has_run(cell, |part, run| !run.capped && run.ops != part.ops);
    if let Some(window) = plan.window_ms.filter(|_| is_windowed) {
        words.set("window", time(window));
    }
    let is_observed = has_run(cell, |_, run| run.observed.is_some());
    if let Some(warm_up) = plan.warm_up_ms.filter(|_| is_observed) {
        words.set("warm-up", time(warm_up));
    }
    if plan.rate == Rate::Max {
        words.set("p99-limit", time(plan.p99_limit_ms));
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
    use crate::summary::tests::{cell, file, phase, run, trial};

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
    fn what_has_no_effect_on_a_cell_is_left_out() {
        let part = |name: &str, ops: u64| phase(name, vec![run(20_000_000, ops)]);
        let mut file = file(vec![
            cell("sqlite", "single", vec![trial(vec![part("read", 10)])]),
            cell("sqlite", "bulk", vec![trial(vec![part("gps", 442)])]),
        ]);
        file.plan.window_ms = Some(20);
        file.plan.warm_up_ms = Some(20);
        file.plan.phases = Some(vec!["gps".to_owned(), "read".to_owned()]);
        file.plan.data = DataSource::File("/home/ann/data.txt".into());
        let [single, bulk] = [0, 1].map(|place| repeat_command(&file, &file.cells[place]));
        // Each phase of `read` has its ten operations.
        assert!(
            !single.contains("window=") && bulk.contains("--set window=20ms"),
            "{single}\n{bulk}"
        );
        assert!(
            single.contains("--phases read ") && bulk.contains("--phases gps "),
            "{single}\n{bulk}"
        );
        for command in [&single, &bulk] {
            assert!(!command.contains("warm-up=") && !command.contains("--data"), "{command}");
        }
        file.plan.rate = Rate::Max;
        let search = repeat_command(&file, &file.cells[0]);
        assert!(
            search.starts_with("embermark rate w ") && search.contains("p99-limit="),
            "{search}"
        );
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
