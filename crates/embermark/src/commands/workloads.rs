//! `embermark workloads`.

use std::fmt::Write as _;
use std::process::ExitCode;

use embermark_model::Scale;
use embermark_workloads::WORKLOADS;

use super::output;
use crate::error::Failure;

/// Lists every workload with its phases and variants.
pub fn list() -> Result<ExitCode, Failure> {
    let mut text = String::new();
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
        for (what, protocol) in [("usual", info.usual), ("--as-published", info.published)] {
            let scales: Vec<String> =
                protocol.scales.iter().map(|rows| Scale::Rows(*rows).to_string()).collect();
            let (scales, variants) = (scales.join(","), protocol.variants.join(","));
            let _ = writeln!(text, "\n  {what}: --scale {scales} --variant {variants}");
        }
        text.push('\n');
    }
    output::print(&text)
}
