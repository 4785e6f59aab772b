//! `embermark advise`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use embermark_model::result::ResultFile;
use embermark_model::{Client, Conditions, Durability, MemoryLimit, Scale};
use embermark_report::advise::{self, AdviceTables, FleetAdvice, LicenceClass, Needs, Weight};
use embermark_report::evidence::{self, Record};
use embermark_report::{DeviceResult, Format, compare};

use super::rate;
use super::results::{device_results, find_results, load_result, load_results};
use crate::error::Failure;
use crate::output;
use crate::plan::{memory_limits, size, unique};

/// The arguments of `embermark advise`.
#[derive(Args)]
pub struct AdviseArgs {
    /// Results of one machine, or of several with --devices: files, folders, and patterns such as
    /// 'fleet/results/*/*/result.json'
    #[arg(required = true)]
    results: Vec<PathBuf>,

    /// Rank over several devices, one per result: an engine's worst figure counts
    #[arg(long, conflicts_with_all = ["scale", "memory_limit", "storage", "force"])]
    devices: bool,

    /// What an engine must have
    #[arg(long, value_enum, value_delimiter = ',')]
    need: Vec<Need>,

    /// What a commit must survive: none, process or power [default: process if measured, otherwise power,
    /// otherwise none]
    #[arg(long, value_name = "TIER")]
    tier: Option<Durability>,

    /// Largest resident memory that an engine may use, such as 64MiB
    #[arg(long, value_name = "SIZE")]
    max_rss: Option<String>,

    /// Licences to accept
    #[arg(long, value_enum, default_value = "any")]
    licence: Licence,

    /// Weigh a criterion: CRITERION=WEIGHT; --criteria lists them [default: commits, reads, changes and questions alike]
    #[arg(long, value_name = "CRITERION=WEIGHT", value_delimiter = ',')]
    weight: Vec<String>,

    /// Advise for this number of rows, at the nearest measured scale: 300k [default: every measured scale]
    #[arg(short, long, value_name = "ROWS")]
    scale: Option<Scale>,

    /// Use only results within this memory limit: 256MiB, none [default: one list per measured limit]
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',')]
    memory_limit: Vec<String>,

    /// Use only results on this imitated storage: sd-a1, or none for this machine's own disk
    /// [default: one list per measured storage]
    #[arg(long, value_name = "STORAGE,…", value_delimiter = ',')]
    storage: Vec<String>,

    /// Advise for use from this language: native (embermark itself), python, node, …
    /// [default: one list per measured language]
    #[arg(long, value_name = "CLIENT,…", value_delimiter = ',')]
    client: Vec<String>,

    /// Leave out engines that commit fewer single rows per second than this
    #[arg(long, value_name = "ROWS/S", value_parser = rate::rows)]
    rate: Option<f64>,

    /// Show the whole list instead of three lines: ranks, the best per criterion, what was left out
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    show: Vec<Shown>,

    /// List the criteria
    #[arg(long)]
    criteria: bool,

    /// Advise although the results are not comparable
    #[arg(long)]
    force: bool,

    /// Leave out the figures of engines whose licence forbids publishing them
    #[arg(long)]
    publishable: bool,

    /// table, json or markdown
    #[arg(short, long, default_value = "table")]
    format: String,
}

/// Additional output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shown {
    /// The whole list
    Tables,
}

/// A property that an engine may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Need {
    /// Its interface is SQL
    Sql,
    /// It runs in the process of your program
    Embedded,
}

/// Licences that are acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Licence {
    /// MIT, Apache, BSD, public domain and similar
    Permissive,
    /// These, the GPL and similar
    Copyleft,
    /// Every licence
    Any,
}

/// Recommends engines.
pub fn advise(args: AdviseArgs) -> Result<ExitCode, Failure> {
    let format: Format = args.format.parse().map_err(Failure::usage)?;
    let weights = args.weight.iter().map(|text| weight(text)).collect::<Result<Vec<_>, _>>()?;
    let rows = args.scale.map(rows).transpose()?;
    let max_rss = args.max_rss.as_deref().map(|text| size("--max-rss", text));
    let mut tables =
        if args.devices { tables_of_devices(&args)? } else { tables_of_machine(&args, rows)? };
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
        memory_bytes: max_rss.transpose()?,
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
    let all = advise::advise_each(&tables, needs, &weights).map_err(Failure::usage)?;
    let text = match format {
        Format::Table => advise::words(&all, &tables, rows, output::width()),
        Format::Markdown => advise::markdown(&all, &tables, rows),
        Format::Json => advise::json(&all, &tables).map_err(Failure::runtime)?,
        Format::Csv | Format::Parquet | Format::Bencher => {
            return Err(usage!("advice is given as table, json or markdown"));
        }
    };
    output::print(&text)
}

/// Builds the tables of advice from results of one machine.
fn tables_of_machine(args: &AdviseArgs, rows: Option<u64>) -> Result<AdviceTables, Failure> {
    let paths = find_results(&args.results)?;
    let results = load_results(&paths, args.publishable)?;
    if !args.force {
        check_comparable(&paths, &results)?;
    }
    let chosen = chosen_conditions(args, &results)?;
    let files: Vec<&ResultFile> = results.iter().collect();
    let mut tables = advise::tables(&files, rows, &chosen);
    evidence::mark_advice(&mut tables, &files, &Record::with(Vec::new()));
    Ok(tables)
}

/// Builds the tables of advice for each device.
fn tables_of_devices(args: &AdviseArgs) -> Result<AdviceTables, Failure> {
    let (mut over, record) = (FleetAdvice::default(), Record::with(Vec::new()));
    for DeviceResult { device, path } in device_results(&find_results(&args.results)?) {
        let result = load_result(&path, args.publishable).map_err(Failure::usage)?;
        let mut own = advise::tables(&[&result], None, &[]);
        evidence::mark_advice(&mut own, &[&result], &record);
        over.add(&device, own);
    }
    Ok(over.tables())
}

/// Refuses results that were measured under different conditions. They may have different cells.
fn check_comparable(paths: &[PathBuf], results: &[ResultFile]) -> Result<(), Failure> {
    let all: Vec<_> = paths.iter().zip(results).collect();
    // Each with each: two of them may differ in an engine that the first one lacks.
    for (at, (path, one)) in all.iter().enumerate() {
        for (other_path, other) in &all[at + 1..] {
            let reasons = compare::unpoolable(one, other);
            if !reasons.is_empty() {
                return Err(usage!(
                    "{} and {} were not measured alike (--force advises anyway):\n  {}",
                    path.display(),
                    other_path.display(),
                    reasons.join("\n  ")
                ));
            }
        }
    }
    Ok(())
}

/// Returns the measured conditions with the chosen memory limits and storages. Without a choice,
/// returns all.
fn chosen_conditions(
    args: &AdviseArgs,
    results: &[ResultFile],
) -> Result<Vec<Conditions>, Failure> {
    let limit_name =
        |limit: Option<MemoryLimit>| limit.map_or("none".into(), |limit| limit.to_string());
    let limits = memory_limits(&args.memory_limit, None)?;
    let limits: Vec<String> = limits.into_iter().map(limit_name).collect();
    let cells = results.iter().flat_map(|result| &result.cells);
    let all: BTreeSet<Conditions> = cells.map(|cell| cell.id.extent().conditions()).collect();
    let limit = |of: &Conditions| limit_name(of.memory_limit);
    let storage = |of: &Conditions| of.storage.map_or("none".into(), |of| of.to_string());
    check_measured("--memory-limit", &limits, all.iter().map(limit))?;
    check_measured("--storage", &args.storage, all.iter().map(storage))?;
    let is_one = |chosen: &[String], name: String| chosen.is_empty() || chosen.contains(&name);
    let is_chosen =
        |of: &Conditions| is_one(&limits, limit(of)) && is_one(&args.storage, storage(of));
    let chosen: Vec<Conditions> = all.into_iter().filter(is_chosen).collect();
    match chosen.is_empty() && !results.is_empty() {
        true => Err(usage!(
            "nothing was measured both with --memory-limit {} and --storage {}: choose others, or measure it",
            limits.join(","),
            args.storage.join(",")
        )),
        false => Ok(chosen),
    }
}

/// Keeps the tables for the chosen languages. Without a choice, keeps all.
fn keep_clients(tables: &mut AdviceTables, chosen: &[String]) -> Result<(), Failure> {
    let languages = tables.tables.iter().map(|table| table.language().to_owned());
    check_measured("--client", chosen, languages)?;
    let is_chosen = |language: &str| chosen.is_empty() || chosen.iter().any(|of| of == language);
    tables.tables.retain(|table| is_chosen(table.language()));
    tables.turns.retain(|turn| is_chosen(turn.client.as_deref().unwrap_or(Client::NATIVE)));
    Ok(())
}

/// Refuses a choice that was not measured.
fn check_measured(
    option: &str,
    chosen: &[String],
    known: impl Iterator<Item = String>,
) -> Result<(), Failure> {
    let all = unique(known.map(Ok))?;
    match chosen.iter().find(|name| !all.contains(name)) {
        None => Ok(()),
        Some(name) => Err(usage!(
            "nothing was measured with {option} {name}, but with {}: choose of these, or measure it",
            all.join(", ")
        )),
    }
}

/// Returns `process` if it was measured, otherwise `power`, otherwise `none`.
fn usual_tier(tables: &advise::AdviceTables) -> Durability {
    let engines = || tables.tables.iter().flat_map(|table| &table.engines);
    let measured = |tier: &Durability| engines().any(|entry| entry.tier == *tier);
    [Durability::Process, Durability::Power, Durability::None]
        .into_iter()
        .find(measured)
        .unwrap_or(Durability::Process)
}

/// Parses the number of rows of a scale.
fn rows(scale: Scale) -> Result<u64, Failure> {
    match scale {
        Scale::Rows(rows) => Ok(rows),
        Scale::Full => Err(usage!("--scale needs a number of rows, such as 300k")),
    }
}

fn weight(text: &str) -> Result<Weight, Failure> {
    let parsed = text.split_once('=').and_then(|(criterion, weight)| {
        let weight = weight.trim().parse().ok().filter(|w: &f64| w.is_finite() && *w > 0.0)?;
        Some(Weight { criterion: criterion.trim().to_owned(), weight })
    });
    parsed.ok_or_else(|| {
        usage!(
            "--weight '{text}' is not a weight: write CRITERION=NUMBER above 0, for example ingest=3"
        )
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use embermark_model::{Configuration, StorageName};

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
        assert_eq!(size("--max-rss", "64MiB").unwrap(), 64 << 20);
        assert_eq!(size("--max-rss", "64M").unwrap(), 64_000_000);
        assert!(size("--max-rss", "lots").unwrap_err().to_string().contains("--max-rss"));
    }

    fn result() -> ResultFile {
        let path = std::path::Path::new("../report/tests/fixtures/schema-1.json");
        load_result(path, false).unwrap()
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
            chosen_conditions(&args, &results)
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
            Configuration { client: Some("python".parse().unwrap()), ..Configuration::new("lmdb") };
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
        let refused = check_comparable(&paths, &[warm.clone(), cold]).unwrap_err().to_string();
        assert!(refused.contains("cold reads: no, then yes"), "{refused}");
        check_comparable(&paths, &[warm.clone(), warm]).unwrap();
    }
}
