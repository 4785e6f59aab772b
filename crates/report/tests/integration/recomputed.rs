//! Recomputes every criterion of advice from only the exported table, without the code of the
//! advice: the rules of `docs/advice.md`, applied to the lines of the CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use embermark_model::result::ResultFile;
use embermark_report::{Format, Options, advise, load, render};

/// A line of the table, by column.
type Line = BTreeMap<String, String>;

/// Engine and figure, for each line of a criterion.
type Figures = BTreeMap<String, f64>;

const QUESTIONS: &str = "avg_sensor hot_sensors anomalies daily_summary outages topk_sensors \
                         compare_two";
const CHANGES: &str = "update_indexed update_scan delete_indexed delete_scan";
const ROWS: &str = "single one-transaction bulk";

/// The variants of `events` in its usual form.
const PLAIN: &str = "none timestamp bucket combined";

/// Criterion, workload, variants (none means all), and phases whose times it is made of.
const TIMES: [(&str, &str, &str, &str); 21] = [
    ("ingest", "sensors", "commit-each", "load"),
    ("ingest", "contacts", "commit-each", "insert"),
    ("ingest", "events", PLAIN, "insert"),
    ("ingest", "machine", "individual", "write"),
    ("load", "sensors", ROWS, "load"),
    ("load", "contacts", "single bulk", "insert"),
    ("load", "events", PLAIN, "insert_buffered"),
    ("load", "machine", "bulk", "write"),
    ("point", "sensors", "", "read last_readings"),
    ("point", "contacts", "", "select_indexed"),
    ("update", "sensors", "", "update delete"),
    ("update", "contacts", "", CHANGES),
    ("analytics", "sensors", "", QUESTIONS),
    ("analytics", "contacts", "", "select_scan"),
    ("analytics", "events", PLAIN, "gps co2 logs"),
    ("analytics", "machine", "", "read_individual read_bulk read_bulk1"),
    ("mixed", "htap", "", "insert_count"),
    ("mixed", "machine", "", "live"),
    ("start", "contacts", "", "open_close"),
    ("start", "events", PLAIN, "open_log open"),
    ("steady-latency", "retention", "", ""),
];

/// Criteria that are made of the 99th percentile.
const TAILS: [(&str, &str, &str); 3] = [
    ("sensors", "", "load read update delete"),
    ("contacts", "", "insert"),
    ("events", PLAIN, "insert"),
];

fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|one| one == word)
}

fn number(line: &Line, column: &str) -> Option<f64> {
    line.get(column)?.parse().ok()
}

fn is(line: &Line, column: &str, value: &str) -> bool {
    line.get(column).is_some_and(|own| own == value)
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let count = values.len();
    (count > 0).then(|| f64::midpoint(values[(count - 1) / 2], values[count / 2]))
}

/// One workload at one scale in one tier, with the lines of engines that compete.
struct Place<'a> {
    lines: Vec<&'a Line>,
    /// Variant and engine of each cell that did not do all of its work.
    incomplete: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Place<'a> {
    fn of(all: &[&'a Line], workload: &str, scale: &str, tier: &str) -> Self {
        let strength = |tier: &str| ["none", "process", "power"].iter().position(|t| *t == tier);
        let weaker = |line: &Line| {
            let effective = line["effective_durability"].as_str();
            !effective.is_empty() && strength(effective) < strength(tier)
        };
        let belongs = |line: &&Line| {
            is(line, "workload", workload)
                && is(line, "scale", scale)
                && is(line, "durability", tier)
                && line["memory_limit_bytes"].is_empty()
                && is(line, "reference", "false")
                && is(line, "by_url", "false")
                && line["own_durability"].is_empty()
                && !weaker(line)
                && !is(line, "lost", "true")
        };
        let lines: Vec<&Line> = all.iter().copied().filter(belongs).collect();
        // A phase that an engine does not support is no work of its cell.
        let is_incomplete = |line: &&Line| {
            !has("ok capped disputed unsupported", &line["cell_status"])
                || !line["shortfall"].is_empty()
        };
        let cell = |line: &'a Line| (line["variant"].as_str(), line["engine"].as_str());
        let incomplete = lines.iter().copied().filter(is_incomplete).map(cell).collect();
        Self { lines, incomplete }
    }

    fn main(&self) -> &str {
        self.lines.first().map_or("", |line| &line["variant"])
    }

    /// Variants and phases, in the order of the lines.
    fn rows(&self) -> BTreeSet<(String, String)> {
        let own = self.lines.iter().filter(|line| !line["phase"].is_empty());
        own.map(|line| (line["variant"].clone(), line["phase"].clone())).collect()
    }

    /// Returns the lines of a variant by engine: those of timed trials, or those of the counting
    /// trial.
    fn cells(&self, variant: &str, counting: bool) -> BTreeMap<&str, Vec<&Line>> {
        let mut cells: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
        for line in self.lines.iter().filter(|line| is(line, "variant", variant)) {
            if is(line, "counting", "true") == counting {
                cells.entry(&line["engine"]).or_default().push(line);
            }
        }
        cells
    }

    /// Whether a cell did all of its work, except phases that its engine does not support.
    fn took_part(&self, variant: &str, engine: &str) -> bool {
        !self.incomplete.contains(&(variant, engine))
    }

    /// Returns the time of a phase by engine, or the percentile of its trials.
    fn times(&self, variant: &str, phase: &str) -> Figures {
        let mut times = Figures::new();
        for (engine, lines) in self.cells(variant, false) {
            let own = lines.into_iter().filter(|line| is(line, "phase", phase));
            let well = own.clone().all(|line| has("ok capped", &line["phase_status"]));
            let time = own.clone().find_map(|line| number(line, "per_op_median_ns"));
            if let Some(time) = time.filter(|_| well && self.took_part(variant, engine)) {
                times.insert(engine.to_owned(), time);
            }
        }
        if times.len() > 1 { times } else { Figures::new() }
    }

    /// Returns the 99th percentile by engine. Empty if an engine with a time lacks it.
    fn tails(&self, variant: &str, phase: &str) -> Figures {
        let timed = self.times(variant, phase);
        let cells = self.cells(variant, false);
        let tail = |engine: &String| {
            let own = cells[engine.as_str()].iter().filter(|line| is(line, "phase", phase));
            let mut trials: BTreeMap<&str, Option<f64>> = BTreeMap::new();
            for line in own.filter(|line| is(line, "discarded", "false")) {
                let scheduled = number(line, "response_p50_ns").is_some();
                let column = if scheduled { "response_p99_ns" } else { "latency_p99_ns" };
                trials.insert(&line["trial"], number(line, column));
            }
            median(trials.into_values().collect::<Option<Vec<f64>>>()?)
        };
        let all: Option<Figures> =
            timed.keys().map(|engine| Some((engine.clone(), tail(engine)?))).collect();
        all.unwrap_or_default()
    }

    /// Returns the engines that have a figure, or fell short of one.
    fn present(&self) -> BTreeSet<String> {
        let rows = self.rows();
        let timed = rows.iter().flat_map(|(variant, phase)| self.times(variant, phase).into_keys());
        let short = self.lines.iter().filter(|line| !line["shortfall"].is_empty());
        timed.chain(short.map(|line| line["engine"].clone())).collect()
    }

    /// Returns by engine what phases of a variant used, over the phases that every engine did.
    fn used(&self, variant: &str, phases: &[String], what: &str) -> Figures {
        let counting = what == "wear";
        let mut cells = self.cells(variant, counting);
        cells.retain(|engine, _| self.took_part(variant, engine));
        let trials = |lines: &[&Line]| -> BTreeSet<String> {
            lines.iter().map(|line| line["trial"].clone()).collect()
        };
        let did = |lines: &[&Line], phase: &String| {
            trials(lines).iter().all(|trial| !runs(lines, trial, phase).is_empty())
        };
        cells.retain(|_, lines| phases.iter().any(|phase| did(lines, phase)));
        let common: Vec<&String> =
            phases.iter().filter(|phase| cells.values().all(|lines| did(lines, phase))).collect();
        let of_trial = |lines: &[&Line], trial: &str| -> Option<f64> {
            let mut total: Option<f64> = None;
            let mut floor: f64 = 0.0;
            for phase in &common {
                let runs = runs(lines, trial, phase);
                let amounts: Option<Vec<f64>> =
                    runs.iter().map(|line| amount(line, what)).collect();
                let amounts = amounts?;
                if what == "memory" {
                    let most = amounts.into_iter().fold(0.0, f64::max);
                    total = Some(total.unwrap_or(0.0).max(most));
                    floor = floor.max(number(runs[0], "memory_floor_bytes").unwrap_or(0.0));
                    continue;
                }
                let ops: f64 = runs.iter().filter_map(|line| number(line, "ops")).sum();
                let whole = number(runs[0], "phase_ops")?;
                if whole > 0.0 {
                    let share = if ops > 0.0 { whole / ops } else { 1.0 / runs.len() as f64 };
                    total = Some(total.unwrap_or(0.0) + amounts.iter().sum::<f64>() * share);
                }
            }
            total.map(|total| total - floor)
        };
        let least = match what {
            "cpu" => 0.0,
            "memory" => 262_144.0,
            _ => 4_096.0,
        };
        let figure = |lines: &[&Line]| {
            let all = trials(lines).iter().filter_map(|trial| of_trial(lines, trial)).collect();
            median(all).map(|used: f64| used.max(least)).filter(|used| *used > 0.0)
        };
        let figures = cells.iter();
        let figures =
            figures.filter_map(|(engine, lines)| Some(((*engine).into(), figure(lines)?)));
        figures.collect()
    }

    /// Returns by engine a figure of whole cells of the main variant.
    fn of_cells(&self, counting: bool, column: &str, least: f64) -> Figures {
        let figure = |(engine, lines): (&str, Vec<&Line>)| {
            let mut trials: BTreeMap<&str, f64> = BTreeMap::new();
            for line in &lines {
                trials.extend(number(line, column).map(|value| (line["trial"].as_str(), value)));
            }
            let own = median(trials.into_values().collect())?.max(least);
            self.took_part(self.main(), engine).then(|| (engine.to_owned(), own))
        };
        self.cells(self.main(), counting).into_iter().filter_map(figure).collect()
    }

    /// Returns the lines of each criterion.
    fn criteria(&self, workload: &str) -> Vec<(String, Figures)> {
        let rows = self.rows();
        let mut all: Vec<(String, Figures)> = Vec::new();
        let fits = |of: &str, variants: &str, phases: &str, (variant, phase): &(String, String)| {
            let variant = variants.is_empty() || has(variants, variant);
            of == workload && variant && has(phases, phase)
        };
        for (criterion, of, variants, phases) in TIMES {
            for row in rows.iter().filter(|row| fits(of, variants, phases, row)) {
                let cannot = |line: &Line| {
                    is(line, "variant", &row.0)
                        && is(line, "phase", &row.1)
                        && is(line, "phase_status", "unsupported")
                };
                if criterion != "start" || !self.lines.iter().copied().any(cannot) {
                    all.push((criterion.into(), self.times(&row.0, &row.1)));
                }
                if criterion == "ingest" {
                    for what in ["memory", "wear", "cpu"] {
                        let used = self.used(&row.0, std::slice::from_ref(&row.1), what);
                        all.push((format!("ingest-{what}"), used));
                    }
                }
            }
        }
        for (of, variants, phases) in TAILS {
            for row in rows.iter().filter(|row| fits(of, variants, phases, row)) {
                all.push(("tail".into(), self.tails(&row.0, &row.1)));
            }
        }
        let main = rows.iter().filter(|(variant, _)| variant == self.main());
        let main: Vec<String> = main.map(|(_, phase)| phase.clone()).collect();
        for what in ["memory", "wear", "cpu"] {
            all.push((what.into(), self.used(self.main(), &main, what)));
        }
        // Phases with a fixed duration load once in the timed trials.
        let lasts = self.lines.iter().any(|line| !line["observed_window_ns"].is_empty());
        all.push(("disk".into(), self.of_cells(!lasts, "disk_allocated_bytes", 4_096.0)));
        all.push(("start".into(), self.of_cells(false, "open_ns", 0.0)));
        all.retain(|(_, figures)| figures.len() > 1);
        all
    }
}

/// Returns the counted runs of a phase in a trial.
fn runs<'a>(lines: &[&'a Line], trial: &str, phase: &str) -> Vec<&'a Line> {
    let counts = |line: &&Line| {
        is(line, "trial", trial)
            && is(line, "phase", phase)
            && has("ok capped", &line["phase_status"])
            && is(line, "discarded", "false")
    };
    lines.iter().copied().filter(counts).collect()
}

fn amount(line: &Line, what: &str) -> Option<f64> {
    let is_server = !line["client_cpu_ns"].is_empty() || !line["client_peak_bytes"].is_empty();
    match what {
        "memory" => {
            let baseline = number(line, "baseline_bytes").filter(|_| !is_server).unwrap_or(0.0);
            Some((number(line, "peak_bytes")? - baseline).max(0.0))
        }
        "cpu" => {
            let client = if is_server { number(line, "client_cpu_ns")? } else { 0.0 };
            Some(number(line, "cpu_ns")? + client)
        }
        _ => {
            let after = match line["maintenance_ns"].is_empty() {
                true => 0.0,
                false => number(line, "maintenance_device_written_bytes")?,
            };
            Some(number(line, "run_device_written_bytes")? + after)
        }
    }
}

/// Returns by criterion and engine the geometric mean of the ratios to the best of each line, over
/// the workloads and scales that the engine took part in.
fn recomputed(
    lines: &[&Line],
    places: &[(String, String)],
    tier: &str,
) -> BTreeMap<String, Figures> {
    let mut logs: BTreeMap<(String, String), Option<Vec<f64>>> = BTreeMap::new();
    for (workload, scale) in places {
        let place = Place::of(lines, workload, scale, tier);
        let present = place.present();
        for (criterion, figures) in place.criteria(workload) {
            let least = figures.values().copied().fold(f64::INFINITY, f64::min);
            for engine in &present {
                let own = logs.entry((criterion.clone(), engine.clone())).or_insert(Some(vec![]));
                match (figures.get(engine), own.as_mut()) {
                    (Some(figure), Some(own)) => own.push((figure / least).ln()),
                    _ => *own = None,
                }
            }
        }
    }
    let mut all: BTreeMap<String, Figures> = BTreeMap::new();
    for ((criterion, engine), logs) in logs {
        if let Some(logs) = logs {
            let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            all.entry(criterion).or_default().insert(engine, mean);
        }
    }
    all
}

/// The recorded results: the published comparisons, and those of the fixtures.
fn recorded() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        ["schema-1.json", "schema-1-machine.json", "schema-2.json", "advice.json"]
            .iter()
            .map(|name| Path::new("tests/fixtures").join(name))
            .collect();
    let folders = |path: &Path| {
        let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect::<Vec<PathBuf>>()
    };
    for source in folders(Path::new("../../results/published")) {
        all.extend(folders(&source).iter().map(|piece| piece.join("result.json")));
    }
    all
}

fn exported(file: &ResultFile) -> Vec<Line> {
    let csv = render(file, Format::Csv, &Options::default()).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn every_criterions_ratios_are_those_of_the_exported_table() {
    let mut compared: BTreeMap<String, usize> = BTreeMap::new();
    for path in recorded() {
        let file = load(&path).unwrap();
        assert!(file.plan.cards.is_empty(), "no card is modelled in {}", path.display());
        let exported = exported(&file);
        for table in
            advise::tables(&[&file], None, &[embermark_model::Conditions::default()]).tables
        {
            // Each language has its own table.
            let language = |column: &str| {
                let own = file.plan.configurations.get(column)?.client.as_ref()?;
                Some(own.language().to_owned())
            };
            let lines: Vec<&Line> =
                exported.iter().filter(|line| language(&line["engine"]) == table.client).collect();
            for tier in ["none", "process", "power"] {
                let of_tier = |name: String| name == tier;
                let places: Vec<(String, String)> = table
                    .rests_on
                    .iter()
                    .filter(|of| of_tier(of.tier.to_string()))
                    .map(|of| (of.workload.clone(), of.scale.clone()))
                    .collect();
                let mut expected = recomputed(&lines, &places, tier);
                // Relative to the best of the tier, because no engine may be the best of each line.
                for figures in expected.values_mut() {
                    let competing: Vec<&String> = table
                        .engines
                        .iter()
                        .filter(|e| of_tier(e.tier.to_string()) && e.facts.kind != "reference")
                        .map(|e| &e.engine)
                        .collect();
                    let own = figures.iter().filter(|(engine, _)| competing.contains(engine));
                    let best = own.map(|(_, ratio)| *ratio).fold(f64::INFINITY, f64::min);
                    if best.is_finite() {
                        figures.values_mut().for_each(|ratio| *ratio /= best);
                    }
                }
                let mut found: BTreeMap<String, Figures> = BTreeMap::new();
                for entry in table.engines.iter().filter(|e| of_tier(e.tier.to_string())) {
                    for (criterion, ratio) in &entry.ratios {
                        let own = found.entry((*criterion).to_owned()).or_default();
                        own.insert(entry.engine.clone(), *ratio);
                    }
                }
                let at = format!("{} {} {tier}", path.display(), table.at);
                let names = |all: &BTreeMap<String, Figures>| -> Vec<String> {
                    let of = |(criterion, figures): (&String, &Figures)| {
                        format!("{criterion}: {:?}", figures.keys().collect::<Vec<_>>())
                    };
                    all.iter().map(of).collect()
                };
                assert_eq!(names(&found), names(&expected), "{at}");
                for (criterion, figures) in &expected {
                    for (engine, ratio) in figures {
                        let own = found[criterion][engine];
                        let same = (own / ratio - 1.0).abs() < 1e-6;
                        assert!(same, "{at} {criterion} {engine}: {own}, recomputed {ratio}");
                    }
                    *compared.entry(criterion.clone()).or_default() += figures.len();
                }
            }
        }
    }
    // No recorded result has two engines that compete in `mixed`, or any energy.
    for criterion in [
        "ingest",
        "load",
        "point",
        "update",
        "analytics",
        "tail",
        "memory",
        "wear",
        "disk",
        "cpu",
        "start",
        "ingest-memory",
        "ingest-wear",
        "ingest-cpu",
    ] {
        assert!(
            compared.get(criterion).is_some_and(|count| *count >= 2),
            "{criterion}: {compared:?}"
        );
    }
}
