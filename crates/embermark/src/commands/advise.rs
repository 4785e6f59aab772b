//! `embermark advise`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use embermark_model::result::ResultFile;
use embermark_model::{Client, Conditions, Durability, Scale};
use embermark_report::advise::{self, AdviceTables, LicenceClass, Needs, OverDevices, Weight};
use embermark_report::shown::{self, Record};
use embermark_report::{Format, OfDevice, compare, load};

use super::results::{of_paths, results_below};
use super::{output, rate};
use crate::error::Failure;
use crate::plan::{max_rss, memory_limits};

/// The arguments of `embermark advise`.
#[derive(Args)]
pub struct AdviseArgs {
    /// Result files of one machine, as `embermark run` writes them; with --devices of many, and patterns
    /// such as 'fleet/results/*/*/result.json'
    #[arg(required = true)]
    results: Vec<PathBuf>,

    /// Each result is of another device: an engine's figure is the worst of any of them
    #[arg(long, conflicts_with_all = ["scale", "memory_limit", "storage", "force"])]
    devices: bool,

    /// What an engine must have
    #[arg(long, value_enum, value_delimiter = ',')]
    need: Vec<Need>,

    /// What a commit must survive: none, process or power [default: the weakest that was measured
    /// from process on]
    #[arg(long, value_name = "TIER")]
    tier: Option<Durability>,

    /// The most resident memory an engine may use, such as 64MiB
    #[arg(long, value_name = "SIZE")]
    max_rss: Option<String>,

    /// How free its licence must be
    #[arg(long, value_enum, default_value = "any")]
    licence: Licence,

    /// What counts and how much: CRITERION=WEIGHT [default: commits, reads, changes and questions alike]
    #[arg(long, value_name = "CRITERION=WEIGHT", value_delimiter = ',')]
    weight: Vec<String>,

    /// How many rows there will be, such as 300k: advice at the nearest scale measured, which it
    /// names [default: advice at every scale measured]
    #[arg(short, long, value_name = "ROWS")]
    scale: Option<Scale>,

    /// Advice from what was measured within this limit of memory, such as 256MiB, or none
    /// [default: without any, and within each limit measured in a list of its own]
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',')]
    memory_limit: Vec<String>,

    /// Advice from what was measured on this imitated storage, such as sd-a1, or none: this machine's own disk
    /// [default: this machine's, and each storage measured in a list of its own]
    #[arg(long, value_name = "STORAGE,…", value_delimiter = ',')]
    storage: Vec<String>,

    /// Advice for who uses an engine from this language: native (embermark itself), python, node, …
    /// [default: each language measured in a list of its own]
    #[arg(long, value_name = "CLIENT,…", value_delimiter = ',')]
    client: Vec<String>,

    /// Leave out engines that commit fewer single rows per second than this
    #[arg(long, value_name = "ROWS/S", value_parser = rate::rows)]
    rate: Option<f64>,

    /// Show the whole list in place of three lines: ranks, what each is best at, what was left out
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    show: Vec<Shown>,

    /// List the criteria
    #[arg(long)]
    criteria: bool,

    /// Advise from results that are not comparable
    #[arg(long)]
    force: bool,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,

    /// table, json or markdown
    #[arg(short, long, default_value = "table")]
    format: String,
}

/// What is shown beside three lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// The whole list
    Tables,
}

/// Something an engine has or has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Need {
    /// It is spoken to in SQL
    Sql,
    /// It runs in the process of its user
    Embedded,
}

/// How free a licence must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Licence {
    /// MIT, Apache, BSD, public domain and their like
    Permissive,
    /// These and the GPL and its like
    Copyleft,
    /// Whatever it is
    Any,
}

/// Says which engines fit.
pub fn advise(args: AdviseArgs) -> Result<ExitCode, Failure> {
    let format: Format = args.format.parse().map_err(Failure::usage)?;
    let weights = args.weight.iter().map(|text| weight(text)).collect::<Result<Vec<_>, _>>()?;
    let rows = args.scale.map(rows).transpose()?;
    let mut tables = if args.devices { over_devices(&args)? } else { of_one_machine(&args, rows)? };
    keep_clients(&mut tables, &args.client)?;
    if args.criteria {
        let line = |c: &advise::Criterion| format!("{:<10}  {}\n", c.id, c.about);
        let criteria = tables.tables.first().into_iter().flat_map(|table| &table.criteria);
        return output::print(&criteria.map(line).collect::<String>());
    }
    let needs = Needs {
        tier: args.tier.unwrap_or_else(|| usual_tier(&tables)),
        sql: args.need.contains(&Need::Sql),
        embedded: args.need.contains(&Need::Embedded),
        memory_bytes: args.max_rss.as_deref().map(max_rss).transpose()?,
        licence: match args.licence {
            Licence::Permissive => Some(LicenceClass::Permissive),
            Licence::Copyleft => Some(LicenceClass::Copyleft),
            Licence::Any => None,
        },
        rows_per_second: args.rate,
    };
    if format == Format::Table && args.show.is_empty() {
        let says = advise::brief(&tables, needs, &weights, output::width());
        return output::print(&says.map_err(Failure::usage)?);
    }
    let all = advise::at_each(&tables, needs, &weights).map_err(Failure::usage)?;
    let text = match format {
        Format::Table => advise::words(&all, &tables, rows, output::width()),
        Format::Markdown => advise::markdown(&all, &tables, rows),
        Format::Json => advise::json(&all, &tables).map_err(Failure::runtime)?,
        Format::Csv | Format::Parquet | Format::Bencher => {
            return Err(Failure::usage("advice is given as table, json or markdown"));
        }
    };
    output::print(&text)
}

/// What advice is drawn from, of results of one machine.
fn of_one_machine(args: &AdviseArgs, rows: Option<u64>) -> Result<AdviceTables, Failure> {
    let results = args.results.iter().map(|path| load(path));
    let mut results: Vec<ResultFile> = results.collect::<Result<_, _>>().map_err(Failure::usage)?;
    if args.publishable {
        results = results.into_iter().map(ResultFile::publishable).collect();
    }
    if !args.force {
        alike(&args.results, &results)?;
    }
    let chosen = chosen(args, &results)?;
    let files: Vec<&ResultFile> = results.iter().collect();
    let mut tables = advise::tables(&files, rows, &chosen);
    shown::mark_advice(&mut tables, &files, &Record::with(Vec::new()));
    Ok(tables)
}

/// The same of a device each, one after the other.
fn over_devices(args: &AdviseArgs) -> Result<AdviceTables, Failure> {
    let mut over = OverDevices::default();
    for OfDevice { device, path } in of_paths(&results_below(&args.results)?) {
        let result = load(&path).map_err(Failure::usage)?;
        over.add(&device, &if args.publishable { result.publishable() } else { result });
    }
    Ok(over.tables())
}

/// Refuses results that were not measured alike. Other cells are what one gives several for.
fn alike(paths: &[PathBuf], results: &[ResultFile]) -> Result<(), Failure> {
    let Some((first, others)) = results.split_first() else { return Ok(()) };
    for (path, other) in paths.iter().skip(1).zip(others) {
        let reasons = compare::unpoolable(first, other);
        if !reasons.is_empty() {
            return Err(Failure::usage(format!(
                "{} and {} were not measured alike (--force advises all the same):\n  {}",
                paths[0].display(),
                path.display(),
                reasons.join("\n  ")
            )));
        }
    }
    Ok(())
}

/// The conditions measured that are chosen by their limits of memory and their storages; without a choice all.
fn chosen(args: &AdviseArgs, results: &[ResultFile]) -> Result<Vec<Conditions>, Failure> {
    let limits = memory_limits(&args.memory_limit, None)?;
    let limits = limits.into_iter().map(|limit| limit.map_or("none".into(), |of| of.to_string()));
    let limits: Vec<String> = limits.collect();
    let cells = results.iter().flat_map(|result| &result.cells);
    let all: BTreeSet<Conditions> = cells.map(|cell| cell.id.extent().conditions()).collect();
    let limit = |of: &Conditions| of.memory_limit.map_or("none".into(), |of| of.to_string());
    let storage = |of: &Conditions| of.storage.map_or("none".into(), |of| of.to_string());
    measured("--memory-limit", &limits, all.iter().map(limit))?;
    measured("--storage", &args.storage, all.iter().map(storage))?;
    let is_one = |chosen: &[String], name: String| chosen.is_empty() || chosen.contains(&name);
    let is_chosen =
        |of: &Conditions| is_one(&limits, limit(of)) && is_one(&args.storage, storage(of));
    let chosen: Vec<Conditions> = all.into_iter().filter(is_chosen).collect();
    match chosen.is_empty() && !results.is_empty() {
        true => Err(Failure::usage(format!(
            "nothing was measured both with --memory-limit {} and --storage {}: choose others, or measure it",
            limits.join(","),
            args.storage.join(",")
        ))),
        false => Ok(chosen),
    }
}

/// Keeps what is for the languages that are chosen; without a choice all.
fn keep_clients(tables: &mut AdviceTables, chosen: &[String]) -> Result<(), Failure> {
    let languages = tables.tables.iter().map(|table| table.language().to_owned());
    measured("--client", chosen, languages)?;
    let is_chosen = |language: &str| chosen.is_empty() || chosen.iter().any(|of| of == language);
    tables.tables.retain(|table| is_chosen(table.language()));
    tables.turns.retain(|turn| is_chosen(turn.client.as_deref().unwrap_or(Client::NATIVE)));
    Ok(())
}

/// Refuses what is chosen with an option and was not measured.
fn measured(
    option: &str,
    chosen: &[String],
    known: impl Iterator<Item = String>,
) -> Result<(), Failure> {
    let mut all: Vec<String> = Vec::new();
    known.for_each(|name| {
        if !all.contains(&name) {
            all.push(name);
        }
    });
    match chosen.iter().find(|name| !all.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::usage(format!(
            "nothing was measured with {option} {name}, but with {}: choose of these, or measure it",
            all.join(", ")
        ))),
    }
}

/// `process` where it was measured, else a stronger tier, else `none`.
fn usual_tier(tables: &advise::AdviceTables) -> Durability {
    let engines = || tables.tables.iter().flat_map(|table| &table.engines);
    let measured = |tier: &Durability| engines().any(|entry| entry.tier == *tier);
    [Durability::Process, Durability::Power, Durability::None]
        .into_iter()
        .find(measured)
        .unwrap_or(Durability::Process)
}

/// How many rows a scale stands for.
fn rows(scale: Scale) -> Result<u64, Failure> {
    match scale {
        Scale::Rows(rows) => Ok(rows),
        Scale::Full => Err(Failure::usage("--scale wants a number of rows, such as 300k")),
    }
}

fn weight(text: &str) -> Result<Weight, Failure> {
    let parsed = text.split_once('=').and_then(|(criterion, weight)| {
        let weight = weight.trim().parse().ok().filter(|w: &f64| w.is_finite() && *w > 0.0)?;
        Some(Weight { criterion: criterion.trim().to_owned(), weight })
    });
    parsed.ok_or_else(|| {
        Failure::usage(format!(
            "--weight '{text}' is no weight: write CRITERION=NUMBER above 0, for example ingest=3"
        ))
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use embermark_model::{Configuration, MemoryLimit, StorageName};

    use super::*;

    #[derive(Parser)]
    struct Advise {
        #[command(flatten)]
        args: AdviseArgs,
    }

    #[test]
    fn a_weight_is_a_criterion_and_a_positive_number() {
        let weight = |text| super::weight(text);
        assert_eq!(weight("ingest=3").unwrap(), Weight { criterion: "ingest".into(), weight: 3.0 });
        for bad in ["ingest", "ingest=", "ingest=0", "ingest=-1", "ingest=inf", "=", "3"] {
            assert!(weight(bad).unwrap_err().to_string().contains("--weight"), "{bad}");
        }
    }

    #[test]
    fn a_budget_of_memory_may_have_units() {
        assert_eq!(max_rss("64MiB").unwrap(), 64 << 20);
        assert_eq!(max_rss("64M").unwrap(), 64_000_000);
        assert!(max_rss("lots").unwrap_err().to_string().contains("--max-rss"));
    }

    fn result() -> ResultFile {
        load(std::path::Path::new("../report/tests/fixtures/schema-1.json")).unwrap()
    }

    #[test]
    fn conditions_that_were_not_measured_are_refused_with_those_that_were() {
        let mut result = result();
        result.cells[0].id.memory_limit = Some(MemoryLimit(256 << 20));
        result.cells[1].id.storage = Some(StorageName::new("sd-a1").unwrap());
        let results = [result];
        let chosen = |words: &[&str]| {
            let words = ["advise", "result.json"].iter().chain(words);
            let args = Advise::try_parse_from(words).unwrap().args;
            chosen(&args, &results)
        };
        assert_eq!(chosen(&["--memory-limit", "256MiB"]).unwrap().len(), 1);
        assert_eq!(chosen(&["--memory-limit", "none"]).unwrap().len(), 2);
        assert_eq!(chosen(&["--storage", "sd-a1"]).unwrap().len(), 1);
        assert_eq!(chosen(&[]).unwrap().len(), 3);
        let refused = |words: &[&str]| chosen(words).unwrap_err().to_string();
        let limits = refused(&["--memory-limit", "512MiB"]);
        assert!(limits.contains("--memory-limit 512 MiB, but with none, 256 MiB"), "{limits}");
        let storages = refused(&["--storage", "emmc"]);
        assert!(storages.contains("--storage emmc, but with none, sd-a1"), "{storages}");
        let both = refused(&["--memory-limit", "256MiB", "--storage", "sd-a1"]);
        assert!(both.contains("both with --memory-limit 256 MiB and --storage sd-a1"), "{both}");
    }

    #[test]
    fn a_client_that_was_not_measured_is_refused_with_those_that_were() {
        let mut result = result();
        let python =
            Configuration { client: Some("python".parse().unwrap()), ..Configuration::of("lmdb") };
        result.plan.configurations.insert("lmdb".to_owned(), python);
        let kept = |words: &[&str]| {
            let mut tables = advise::tables(&[&result], None, &[]);
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            keep_clients(&mut tables, &words).map(|()| {
                let all = tables.tables.iter().map(|table| table.language().to_owned());
                all.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
            })
        };
        assert_eq!(kept(&[]).unwrap(), ["native", "python"]);
        assert_eq!(kept(&["python"]).unwrap(), ["python"]);
        assert_eq!(kept(&["native", "python"]).unwrap(), ["native", "python"]);
        let refused = kept(&["node"]).unwrap_err().to_string();
        assert!(refused.contains("--client node, but with native, python"), "{refused}");
    }

    #[test]
    fn results_of_cold_and_of_warm_reads_are_not_advised_from_together() {
        let (warm, mut cold) = (result(), result());
        cold.plan.cold = true;
        let paths = ["warm.json", "cold.json"].map(PathBuf::from);
        let refused = alike(&paths, &[warm.clone(), cold]).unwrap_err().to_string();
        assert!(refused.contains("cold reads: no, then yes"), "{refused}");
        alike(&paths, &[warm.clone(), warm]).unwrap();
    }
}
