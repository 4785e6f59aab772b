//! `embermark verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use embermark_harness::{RunOptions, cells, interrupt, progress};
use embermark_model::plan::Plan;
use embermark_model::result::{Cell, ResultFile};
use embermark_model::{Durability, Status};
use embermark_report::text;
use embermark_workloads::WORKLOADS;

use super::options::databases_folder;
use crate::error::Failure;
use crate::output;
use crate::plan::{PlanArgs, ids_or, or_else, variants_of};

/// The arguments of `embermark verify`.
#[derive(Args)]
pub struct VerifyArgs {
    /// Engines to verify: ids, or embedded, servers, all [default: all, or those of --engine-library]
    #[arg(value_name = "ENGINE")]
    engines: Vec<String>,

    /// Add an engine of your own, a shared library (docs/engine-library.md); ID renames it; may be repeated
    #[arg(long, value_name = "[ID=]PATH")]
    engine_library: Vec<PathBuf>,

    /// Workloads [default: all]
    #[arg(short, long, value_delimiter = ',', value_name = "WORKLOAD,…")]
    workload: Vec<String>,

    /// Rows
    #[arg(short, long, value_name = "ROWS", default_value = "1000")]
    scale: String,

    /// Tiers [default: all]
    #[arg(short, long, value_delimiter = ',', value_name = "TIER,…")]
    tier: Vec<String>,

    /// Longest time of one phase; the work until then is checked
    #[arg(long, value_name = "TIME", default_value = "300ms")]
    max_run_time: String,

    /// Use a server that already runs instead of a private one: ENGINE=URL
    #[arg(long, value_name = "ENGINE=URL")]
    url: Vec<String>,

    /// Verify engines whose licence forbids publishing benchmark results; you accept the licence
    #[arg(long, value_delimiter = ',', value_name = "ENGINE,…")]
    accept_license: Vec<String>,

    /// Folder for the databases and logs, kept if an answer is wrong [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Runs every workload once on small data, in every variant and tier, and shows whether the answers
/// are correct.
pub fn verify(args: VerifyArgs) -> Result<ExitCode, Failure> {
    let (asked, outside) = (args.engines.clone(), !args.engine_library.is_empty());
    let dir = databases_folder(args.dir.clone())?;
    let plan = plan(args)?;
    let named = if asked.is_empty() && outside { plan.engines.clone() } else { asked };
    let out =
        tempfile::Builder::new().prefix("embermark-verify-").tempdir_in(&dir).map_err(|e| {
            let dir = dir.display();
            usage!("cannot create a folder in {dir}: {e}; name another with --dir")
        })?;
    let interrupt = interrupt::on_signals()?;
    let options = RunOptions { once_per_setting: true, interrupt, ..RunOptions::new(out.path())? };
    let mut progress = progress::on_stderr(None);
    let result = embermark_harness::run(&plan, &options, progress.as_mut())?;
    let mut shown = table(&result, &plan.engines);
    let bad: Vec<&Cell> = result.cells.iter().filter(|cell| cell.has_failure()).collect();
    for cell in &bad {
        shown.push_str(&format!("\n{}: {}: {}", cell.id, cell.status, reason(cell)));
    }
    let is_verified = |engine: &str| {
        let mut cells = result.cells.iter().filter(|cell| cell.id.engine == engine);
        cells.any(|cell| !cell.trials.is_empty())
    };
    // An engine that is named, rather than part of a group, must have been verified.
    let is_lacking = |engine: &String| named.contains(engine) && !is_verified(engine);
    let absent = |cell: &&Cell| cell.status == Status::Unavailable || is_lacking(&cell.id.engine);
    let mut said: Vec<&str> = Vec::new();
    for cell in result.cells.iter().filter(absent) {
        if !said.contains(&&*cell.id.engine) {
            said.push(&cell.id.engine);
            shown.push_str(&format!("\n{}: not verified: {}", cell.id.engine, reason(cell)));
        }
    }
    if !bad.is_empty() {
        let kept = out.keep();
        shown.push_str(&format!("\nresult and logs: {}", kept.display()));
    }
    shown.push('\n');
    output::print(&shown)?;
    let lacking = named.iter().any(|name| said.contains(&name.as_str()));
    Ok(ExitCode::from(u8::from(!bad.is_empty() || lacking)))
}

fn plan(args: VerifyArgs) -> Result<Plan, Failure> {
    let all = WORKLOADS.iter().map(|workload| workload.id());
    let workloads = or_else(args.workload, &all.collect::<Vec<_>>());
    let asked = PlanArgs {
        variant: variants_of(&workloads)?,
        workloads,
        engines: ids_or(args.engines, &args.engine_library, "all")?,
        engine_library: args.engine_library,
        scale: vec![args.scale],
        tier: or_else(args.tier, &Durability::ALL.map(Durability::name)),
        runs: Some(1),
        trials: Some(1),
        max_run_time: Some(args.max_run_time),
        window: Some("20ms".to_owned()),
        warm_up: Some("none".to_owned()),
        timeout: Some("5m".to_owned()),
        url: args.url,
        accept_license: args.accept_license,
        ..PlanArgs::default()
    };
    let plan = asked.plan()?;
    cells::check_urls(&plan)?;
    Ok(plan)
}

/// Returns a table of engines by tiers, with the worst status of each.
fn table(result: &ResultFile, engines: &[String]) -> String {
    let header = ["engine".to_owned(), "version".to_owned()];
    let tiers = &result.plan.durabilities;
    let tier_names = tiers.iter().map(Durability::to_string);
    let mut table = output::table(header.into_iter().chain(tier_names));
    for engine in engines {
        let cells: Vec<&Cell> = result.cells.iter().filter(|c| c.id.engine == *engine).collect();
        let version =
            cells.iter().find_map(|cell| cell.trials.iter().find_map(|t| t.version.clone()));
        let mut row = vec![engine.clone(), text::clipped(&version.unwrap_or_default(), 40)];
        row.extend(tiers.iter().map(|tier| {
            let of_tier: Vec<&&Cell> = cells.iter().filter(|c| c.id.durability == *tier).collect();
            verdict(&of_tier)
        }));
        table.add_row(row);
    }
    table.trim_fmt()
}

/// Returns `ok` with the number of phases whose answers were checked, or what is wrong. Variants
/// that an engine does not support are mentioned.
fn verdict(cells: &[&&Cell]) -> String {
    let lacking = cells.iter().filter(|cell| cell.status == Status::Unsupported).count();
    let tried = cells.iter().map(|cell| cell.status).filter(|s| *s != Status::Unsupported);
    let worst = tried.max().or_else(|| cells.first().map(|cell| cell.status));
    let trials = cells.iter().flat_map(|cell| &cell.trials);
    let checked: usize = trials.map(|trial| trial.phases.len()).sum();
    match worst {
        None => "as another tier".to_owned(),
        Some(status) if status.has_figures() && lacking > 0 => {
            format!("ok ({checked} phases, {lacking} variants unsupported)")
        }
        Some(status) if status.has_figures() => format!("ok ({checked} phases)"),
        Some(status) => status.to_string(),
    }
}

fn reason(cell: &Cell) -> String {
    text::plain(cell.reason.as_deref().unwrap_or("no reason is known"))
}
