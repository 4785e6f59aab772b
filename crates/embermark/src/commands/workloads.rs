//! `embermark workloads`.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use embermark_language::{BUILT_IN, PUBLISHED, parse};
use embermark_model::{Scale, choice};
use embermark_published::{Piece, all};
use embermark_workloads::WORKLOADS;

use crate::error::Failure;
use crate::output;
use crate::plan::{PlanArgs, built_in_file};

/// The arguments of `embermark workloads`.
#[derive(Args)]
pub struct WorkloadsArgs {
    /// Print this workload file, to start from; `default` prints the plan of `embermark run` without arguments
    name: Option<String>,
}

/// Lists every workload with its phases and variants, or prints a workload file.
pub fn list(args: &WorkloadsArgs) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    if args.name.as_deref() == Some("default") {
        return output::print(PlanArgs::DEFAULT);
    }
    if let Some(name) = &args.name {
        return match built_in_file(name) {
            Some(text) => output::print(text),
            None => {
                let names = PUBLISHED.iter().chain(BUILT_IN).map(|(id, _)| *id);
                let names = names.chain(["default"]);
                Err(Failure::usage(choice::unknown("built-in workload file", name, names)))
            }
        };
    }
    for workload in WORKLOADS {
        let info = workload.info();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}  {}\n\n  phases", info.id, info.about);
        for phase in info.phases {
            let _ = writeln!(text, "    {:<14} {}", phase.name, phase.about);
        }
        let _ = writeln!(text, "\n  variants (--variant)");
        for variant in info.variants {
            let _ = writeln!(text, "    {:<14} {}", variant.name, variant.about);
        }
        let (scales, variants) = (scales(info.usual.scales), info.usual.variants.join(","));
        let _ = writeln!(text, "\n  usual: --scale {scales} --variant {variants}\n");
    }
    let _ = writeln!(
        text,
        "published comparisons  repeated by `embermark reproduce`, piece by piece\n"
    );
    for source in all() {
        let _ = writeln!(text, "    {:<14} {}", source.id, source.title);
        for Piece { name, about, scales: rows, .. } in &source.pieces {
            let _ = writeln!(text, "      {name:<12} {about}; rows: {}", scales(rows));
        }
    }
    text.push('\n');
    let _ =
        writeln!(text, "files  run by name; 'embermark workloads NAME' prints one to start from\n");
    for (id, file) in BUILT_IN {
        let about = parse(id, file, &[]).map(|definition| definition.about);
        let _ = writeln!(text, "    {id:<14} {}", about.unwrap_or_default());
    }
    text.push_str("\n    FILE.toml      your own: 'embermark init DATA', docs/workload-files.md\n");
    output::print(&text)
}

/// Formats scales: `1k,10k`.
fn scales(rows: &[u64]) -> String {
    let scales: Vec<String> = rows.iter().map(|rows| Scale::Rows(*rows).to_string()).collect();
    scales.join(",")
}
