//! `embermark site`.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use embermark_engines::{Kind, registry};
use embermark_report::ReportError;
use embermark_report::format::counted;
use embermark_report::site::{Program, Site, SiteOptions, SnippetKey};
use embermark_workloads::WORKLOADS;

use super::page;
use super::results::find_results;
use super::show::ReportFacts;
use crate::error::Failure;

/// The arguments of `embermark site`.
#[derive(Args)]
pub struct SiteArgs {
    /// Result files, folders with results, and patterns such as 'results/**/*.json'
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<PathBuf>,

    /// Folder of the site: a new one, or one with a site of embermark, which is replaced
    #[arg(short, long, value_name = "FOLDER", default_value = "site")]
    out: PathBuf,

    /// Leave out results that fail a rule of `embermark check`
    #[arg(long)]
    checked: bool,

    /// End with exit status 1 if a file was left out
    #[arg(long)]
    strict: bool,
}

/// Makes a site of results. Files that are not results are named and left out.
pub fn site(args: &SiteArgs) -> Result<ExitCode, Failure> {
    let paths = find_results(&args.results)?;
    let known = ReportFacts::new(Vec::new());
    let options = SiteOptions {
        order: &known.order,
        engines: page::engines(),
        workloads: WORKLOADS.iter().copied().map(page::facts).collect(),
        forbidden: page::unpublishable(),
        checked: args.checked,
        durability: &known.durability,
        snippet: &program,
    };
    let mut site = Site::begin(&args.out, options).map_err(|error| match error {
        // Something else is in the folder.
        ReportError::NotASite(_) => Failure::usage(error),
        _ => Failure::runtime(error),
    })?;
    let (mut added, mut left_out) = (0, 0);
    for path in &paths {
        match site.read(path) {
            Ok(result) => {
                site.add(path, &result).map_err(Failure::runtime)?;
                added += 1;
            }
            Err(why) => {
                say!("embermark: left out: {why}");
                left_out += 1;
            }
        }
    }
    if added == 0 {
        return Err(usage!(
            "no result of embermark found: give result files, or a folder that has some"
        ));
    }
    let built = site.finish().map_err(Failure::runtime)?;
    let counted = |number: usize, noun| counted(number as u64, noun);
    say!(
        "{} with {} of {} in {}: open index.html there, or put the folder on any web server",
        counted(built.results, "result"),
        counted(built.cells, "cell"),
        counted(built.machines, "machine"),
        args.out.display()
    );
    Ok(if left_out > 0 && args.strict { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Returns the program for a cell as `embermark snippet` prints it. That runs in a separate
/// process, because it opens the engine's library. Programs for servers are left out, because it
/// would start one.
fn program(of: &SnippetKey) -> Program {
    let (Ok(engine), Ok(client)) = (registry::find(&of.engine), of.client.parse()) else {
        return Program::None;
    };
    if embermark_clients::snippet(&client, &of.engine).is_err() {
        return Program::None;
    }
    let print = || {
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.args(["snippet", &of.engine, "--client", &of.client, "-t", &of.tier.to_string()]);
        let printed = command.stdin(Stdio::null()).output().ok()?;
        printed.status.success().then(|| String::from_utf8(printed.stdout).ok())?
    };
    match engine.info().kind {
        Kind::Embedded => print().map_or(Program::NotHere, Program::Text),
        _ => Program::NotHere,
    }
}
