//! What came of the experiments, as a table.

use std::cmp::Ordering;

use comfy_table::{Table, TableStyle};
use embermark_durability::journal::Outcome;
use embermark_durability::{Experiment, Loss, Tested};
use embermark_report::shown::found;

const HEADER: [&str; 10] = [
    "engine",
    "version",
    "tier",
    "experiment",
    "tried",
    "found",
    "lost commits",
    "lost time",
    "opens in (after a close)",
    "a commit writes",
];

/// The table, its key, and where violations are kept.
pub(super) fn text(outcome: &Outcome) -> String {
    let head = &outcome.head;
    let mut table = Table::new();
    table.load_style(TableStyle::new());
    table.set_header(HEADER);
    for tested in &outcome.tested {
        table.add_row(row(tested));
    }
    for not in &outcome.not_tried {
        let mut row = vec!["-".to_owned(); HEADER.len()];
        row[0].clone_from(&not.engine);
        row[2] = not.durability.to_string();
        row[3] = not.experiment.name().to_owned();
        table.add_row(row);
    }
    let mut text = format!(
        "What was left of acknowledged commits after kills and power cuts\n{} on {}, {}, seed {}\n\n{}\n\n",
        head.begun,
        head.file_system,
        head.kernel,
        head.seed,
        table.trim_fmt()
    );
    text.push_str(KEY);
    for (name, configuration) in &head.configurations {
        text.push_str(&format!(
            "  {name}: {configuration}; its author says by the tier what it keeps\n"
        ));
    }
    for not in &outcome.not_tried {
        let (engine, durability) = (&not.engine, not.durability);
        let what = if not.failed { "failed" } else { "not tried" };
        let experiment = not.experiment.name();
        text.push_str(&format!("  {what}: {engine} {durability}, {experiment}: {}\n", not.why));
    }
    outcome.tested.iter().for_each(|tested| violations(tested, &mut text));
    text
}

const KEY: &str = "\
  tier        in brackets what the setting keeps, where that is another tier
  found       what no tier promises to survive stands in brackets; every other finding breaks a promise
  torn block  a write that was cut off within a block of 4 KiB, which a device of such sectors does not do
  lost        acknowledged commits that were gone: median, and at worst; >=: all there were, of a longer work
              more may be. For how long the oldest of them had been acknowledged
  exhaustive  of the states these are all that there are of so many works of a few operations
  opens in    median, beside that after a clean close
";

fn row(tested: &Tested) -> Vec<String> {
    let tier = match tested.effective_durability {
        Some(effective) => format!("{} ({effective})", tested.durability),
        None => tested.durability.to_string(),
    };
    let at_least = |loss: &Loss| if loss.everything { ">=" } else { "" };
    let dash = || "-".to_owned();
    let commits = tested.loss.map_or_else(dash, |loss| {
        format!("{}, worst {}{}", loss.median_commits, at_least(&loss), loss.worst_commits)
    });
    let time = tested.loss.map_or_else(dash, |loss| {
        format!("{}, worst {}{}", ms(loss.median_ms), at_least(&loss), ms(loss.worst_ms))
    });
    let opens = |ns: Option<u64>| ns.map_or_else(dash, |ns| ms(ns as f64 / 1e6));
    let commit = tested.commit.map_or_else(dash, |io| {
        let each = |n: u64| n as f64 / io.commits.max(1) as f64;
        format!("{:.1} KB, {:.2} flushes", each(io.bytes) / 1e3, each(io.flushes))
    });
    vec![
        tested.engine.clone(),
        tested.version.clone(),
        tier,
        tested.experiment.name().to_owned(),
        tested.tried.to_string(),
        found(tested),
        commits,
        time,
        format!("{} ({})", opens(tested.open_ns), opens(tested.clean_open_ns)),
        commit,
    ]
}

fn ms(ms: f64) -> String {
    match ms.partial_cmp(&1000.0) {
        Some(Ordering::Less) => format!("{ms:.1} ms"),
        _ => format!("{:.1} s", ms / 1e3),
    }
}

/// The violations of one experiment, each with the commands that show it.
fn violations(tested: &Tested, text: &mut String) {
    for example in tested.examples.iter().filter(|_| tested.is_promised()) {
        let Some(kept) = &example.kept else { continue };
        let (engine, durability) = (&tested.engine, tested.durability);
        let last = example.last.map_or_else(|| "?".to_owned(), |last| last.to_string());
        text.push_str(&format!(
            "\n  {engine} {durability}: {}, {}\n    acknowledged up to commit {}, there up to {last}{}\n",
            example.verdict.name(),
            example.of,
            example.acknowledged,
            example.message.as_ref().map_or_else(String::new, |said| format!(": {said}")),
        ));
        let kept = kept.display();
        text.push_str(&match tested.experiment {
            Experiment::Kill => format!("    ls {kept}    # opened once since\n"),
            Experiment::PowerCut | Experiment::DeviceLies => format!(
                "    cp --sparse=always {kept} /tmp/cut.img && mkdir -p /tmp/cut\n    mount -o loop /tmp/cut.img /tmp/cut && ls -l /tmp/cut/database    # as root; then: umount /tmp/cut\n"
            ),
        });
    }
}
