//! Notes below the tables: the key, rare events, and broken promises.

use embermark_durability::journal::{NotTried, Outcome};
use embermark_durability::{Experiment, Tested};
use embermark_report::format::counted;
use embermark_report::wrapped;

/// Meaning of the words in the tables.
const KEY: [(&str, &str); 5] = [
    ("tier", "brackets show the effective durability if it is another tier"),
    (
        "found",
        "brackets mark what no tier promises to survive; every other finding breaks a promise",
    ),
    (
        "torn block",
        "a write that was torn within a block of 4 KiB, which a device with sectors of 4 KiB does not do",
    ),
    (
        "lost",
        "acknowledged commits that were lost: median and worst; >=: all of them, so a longer work may lose \
         more. Below: the time since the oldest of them was acknowledged",
    ),
    (
        "opens",
        "median. After a power cut it is measured on the recorded device: compare it only with other power cuts",
    ),
];

/// Adds the notes to the text of the tables.
pub(super) fn write(outcome: &Outcome, width: usize, text: &mut String) {
    let mut note = |about: &str, says: &str| {
        for line in wrapped(says, width, &format!("  {about:<12} "), &" ".repeat(15)) {
            text.push_str(&line);
            text.push('\n');
        }
    };
    if outcome.tested.iter().any(super::is_interrupted) {
        KEY.iter().for_each(|(about, says)| note(about, says));
    }
    let of =
        |tested: &Tested, count: u32| format!("{} {} {count}", tested.engine, tested.durability);
    let not_mounted = outcome.tested.iter().filter(|tested| tested.not_mounted > 0);
    let not_mounted: Vec<_> = not_mounted.map(|one| of(one, one.not_mounted)).collect();
    if !not_mounted.is_empty() {
        let says = "in more states the file system itself did not survive, which shows nothing about the engine";
        note("not mounted", &format!("{says}: {}", not_mounted.join(", ")));
    }
    let exhaustive = outcome.tested.iter().filter_map(|one| Some((one, one.exhaustive?)));
    for (works, states) in grouped(exhaustive.map(|(one, all)| (all.works, of(one, all.states)))) {
        let works = counted(u64::from(works), "short work");
        let says = format!("these are all possible states of {works}");
        note("exhaustive", &format!("{says}: {}", states.join(", ")));
    }
    for (name, configuration) in &outcome.head.configurations {
        let by_author = "; it promises what the author of its settings claims";
        let by_author = if configuration.has_settings() { by_author } else { "" };
        note(name, &format!("{configuration}{by_author}"));
    }
    not_tried(outcome, &mut note);
    for id in &outcome.head.accepted_licences {
        note(id, "its licence forbids publishing these findings without its vendor's consent");
    }
    outcome.tested.iter().for_each(|tested| violations(tested, width, text));
}

/// Lists what was not tested, one line per reason.
fn not_tried(outcome: &Outcome, note: &mut impl FnMut(&str, &str)) {
    let one = |not: &NotTried| {
        let tier = format!("{} {}", not.engine, not.durability);
        ((not.failed, not.why.clone(), tier), not.experiment.name())
    };
    let by_tier = grouped(outcome.not_tried.iter().map(one)).into_iter();
    let by_why = grouped(by_tier.map(|((failed, why, tier), experiments)| {
        ((failed, why, experiments.join(" and ")), tier)
    }));
    for ((failed, why, experiments), tiers) in by_why {
        let about = if failed { "failed" } else { "not tried" };
        note(about, &format!("{}, {experiments}: {why}", tiers.join(", ")));
    }
}

/// Lists the violations of one experiment, each with the commands that show it.
fn violations(tested: &Tested, width: usize, text: &mut String) {
    for example in tested.examples.iter().filter(|_| tested.is_promised()) {
        let Some(kept) = &example.kept else { continue };
        let (engine, durability) = (&tested.engine, tested.durability);
        let last = example.last.map_or_else(|| "?".to_owned(), |last| last.to_string());
        let heading = format!("{engine} {durability}: {}, {}", example.verdict.name(), example.of);
        let said = format!(
            "acknowledged up to commit {}, there up to {last}{}",
            example.acknowledged,
            example.message.as_ref().map_or_else(String::new, |said| format!(": {said}")),
        );
        let heading = wrapped(&heading, width, "  ", "    ");
        let said = wrapped(&said, width, "    ", "    ");
        text.push_str(&format!("\n{}\n{}\n", heading.join("\n"), said.join("\n")));
        let kept = kept.display();
        text.push_str(&match tested.experiment {
            Experiment::Kill => format!("    ls {kept}    # opened once since\n"),
            Experiment::PowerCut | Experiment::DeviceLies | Experiment::FullDisk => format!(
                "    cp --sparse=always {kept} /tmp/cut.img && mkdir -p /tmp/cut\n    mount -o loop /tmp/cut.img /tmp/cut && ls -l /tmp/cut/database    # as root; then: umount /tmp/cut\n"
            ),
        });
    }
}

/// Groups values by key, in the order in which keys first appear.
fn grouped<K: PartialEq, V>(all: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}
