//! Formats a gate as text and Markdown.

use super::{EngineTotal, Gate, JudgedPhase, Outcome, Verdict};
use crate::compare;
use crate::document::{self, Block};
use crate::grid::{Grid, Text, Tone};
use crate::note::{self, Section, note};
use crate::{Options, format, notes, text};

/// Number of phases shown that are not slower: those nearest to it. JSON and JUnit have all.
const NEAREST: usize = 10;

/// Formats a gate for a terminal.
pub fn table(gate: &Gate, options: &Options<'_>) -> String {
    document::terminal(&blocks(gate), options)
}

/// Formats a gate for a comment on GitHub.
pub fn markdown(gate: &Gate) -> String {
    document::markdown(&blocks(gate))
}

fn blocks(gate: &Gate) -> Vec<Block> {
    let unlike = compare::unlike(&gate.differences, "judged");
    let notice = notes::unpublishable_notice(&gate.unpublishable);
    let heads = notice.into_iter().chain([head(gate)]).map(Block::Head);
    let heads = unlike.into_iter().map(Block::Section).chain(heads);
    let why = Section { title: "Why".to_owned(), notes: note::lines(&gate.why) };
    let tables = [wholes(gate), phases(gate)].into_iter().filter_map(Grid::filled);
    let tables = tables.map(|grid| Block::table(grid, Vec::new()));
    let sections = sections(gate).into_iter().map(Block::Section);
    heads.chain([Block::Section(why)]).chain(tables).chain(sections).collect()
}

/// Returns the head line: `Failed, with 5 % allowed`.
fn head(gate: &Gate) -> String {
    let allowed = format::percent(gate.allow);
    match gate.outcome {
        Outcome::Passed => format!("Passed: nothing is shown to be slower by more than {allowed}"),
        Outcome::Failed => format!("Failed, with {allowed} allowed"),
        Outcome::Unclear => "Unclear: these results do not show it".to_owned(),
    }
}

/// Lists what broke: answers, cells, rates.
pub(super) fn broken(gate: &Gate) -> Vec<String> {
    let turned = gate.turned.iter().filter(|turn| turn.broke).map(|turn| {
        let phase = turn.phase.as_deref().map(|phase| format!(" {phase}")).unwrap_or_default();
        let reason = turn.reason.as_deref().map(|why| format!(": {}", text::clipped(why, 200)));
        format!("{}{phase} was {}{}", turn.cell, turn.words(), reason.unwrap_or_default())
    });
    let behind = gate.phases.iter().filter(|phase| phase.verdict == Verdict::NoLongerKeepsUp);
    turned.chain(behind.map(describe_named_phase)).map(|says| text::plain(&says)).collect()
}

/// Lists what is slower than allowed.
pub(super) fn slower(gate: &Gate) -> Vec<String> {
    let wholes = gate.wholes.iter().filter(|whole| whole.is_slower);
    let wholes = wholes.map(|whole| format!("{} {}", whole.engine, describe_engine(whole)));
    let phases = gate.phases.iter().filter(|phase| phase.verdict == Verdict::Slower);
    wholes.chain(phases.map(describe_named_phase)).map(|says| text::plain(&says)).collect()
}

/// Lists the slowdowns that would have been found.
pub(super) fn found(gate: &Gate) -> Vec<String> {
    let wholes = gate.wholes.iter().map(|whole| {
        let more = whole.rounds_for_twice.filter(|_| whole.finds > 1.0 + 2.0 * gate.allow);
        let more = more.map(|rounds| {
            let twice = format::percent(2.0 * gate.allow);
            format!("; {} find {twice}", format::counted(rounds, "trial"))
        });
        let (engine, more) = (text::plain(&whole.engine), more.unwrap_or_default());
        let finds = excess(whole.finds);
        format!("a slowdown of all of {engine} by {finds} is found 95 times of 100{more}")
    });
    let mut single: Vec<f64> = gate.phases.iter().filter_map(|phase| phase.finds).collect();
    single.sort_by(f64::total_cmp);
    let single = single.first().zip(single.get(single.len() / 2)).zip(single.last());
    let single = single.map(|((least, middle), most)| {
        format!(
            "a slowdown of a single phase by {} is, of half of the phases one by {}, of every phase one by {}",
            excess(*least),
            excess(*middle),
            excess(*most)
        )
    });
    wholes.chain(single).collect()
}

/// Explains why nothing was judged.
pub(super) fn nothing_judged(gate: &Gate) -> String {
    let few = gate.phases.iter().filter(|phase| phase.verdict == Verdict::TooFewTrials).count();
    match few {
        0 => "no phase of an engine has figures in both: run the same plan for both".to_owned(),
        _ => "no phase has three trials in both: run with --trials 5 or more".to_owned(),
    }
}

/// Names the engines that have no figures any more.
pub(super) fn gone(gate: &Gate) -> String {
    let gone = gate.gone.iter().map(|engine| text::clipped(&text::plain(engine), 200));
    format!(
        "no figures any more of {}: name the engines to judge with --engines, or measure the baseline again",
        text::joined(gone, ", ")
    )
}

/// Explains why nothing could have been found.
pub(super) fn finds_nothing(gate: &Gate) -> String {
    let finds = gate.finds().map(excess).unwrap_or_default();
    format!(
        "the trials differ so much that only a slowdown by {finds} or more would be found: run more trials, \
         on a machine that does nothing else"
    )
}

/// States that the machine changed.
pub(super) fn machine_changed(machine: &EngineTotal) -> String {
    format!(
        "the machine changed between the runs: the references, which no engine is part of, took {} ({}): \
         measure both again, or both in one run",
        format::ratio(machine.ratio),
        format::between(machine.interval, format::ratio)
    )
}

/// Describes an engine: `took 1.12x (1.08-1.15x) over 13 phases`.
pub(super) fn describe_engine(whole: &EngineTotal) -> String {
    format!(
        "took {} ({}) over {}",
        format::ratio(whole.ratio),
        format::between(whole.interval, format::ratio),
        format::counted(whole.phases as u64, "phase")
    )
}

/// Describes a phase: `took 1.12x (1.08-1.15x): slower than allowed`.
pub(super) fn describe_phase(judged: &JudgedPhase) -> String {
    let verdict = judged.verdict.name();
    let lacking = judged.lacking.as_ref().map(|lacking| format!(": {lacking}")).unwrap_or_default();
    match judged.ratio.zip(judged.interval) {
        Some((ratio, interval)) => format!(
            "took {} ({}): {verdict}",
            format::ratio(ratio),
            format::between(interval, format::ratio)
        ),
        None => format!("{verdict}{lacking}"),
    }
}

fn describe_named_phase(judged: &JudgedPhase) -> String {
    format!("{} {} {}", judged.cell, judged.phase, describe_phase(judged))
}

/// Formats the share by which a ratio is above 1: `8.1 %`, `12 %`, `>1,000 %`.
fn excess(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if percent < 10.0 {
        format!("{percent:.1} %")
    } else if percent <= 1_000.0 {
        format!("{percent:.0} %")
    } else {
        // A few trials that differ much have astronomical ratios.
        ">1,000 %".to_owned()
    }
}

fn wholes(gate: &Gate) -> Grid {
    let row = |whole: &EngineTotal| {
        let tone = if whole.is_slower { Tone::Bad } else { Tone::Plain };
        let verdict = if whole.is_slower { Verdict::Slower } else { Verdict::NotSlower };
        let [old, new] = whole.rounds;
        let trials = if old == new { new.to_string() } else { format!("{old}, {new}") };
        let texts = [
            format::count(whole.phases as u64),
            trials,
            format::ratio(whole.ratio),
            format::between(whole.interval, format::ratio),
            excess(whole.finds),
            verdict.name().to_owned(),
        ];
        (text::plain(&whole.engine), texts.map(|value| Text::toned(value, tone)).to_vec())
    };
    let header = ["phases", "trials", "new/old", "95 % interval", "finds", ""];
    Grid::new("Engines as wholes", header, gate.wholes.iter().map(row).collect())
}

/// Returns a table of the phases that the gate fails by, and of those nearest to it.
fn phases(gate: &Gate) -> Grid {
    let (failing, mut others): (Vec<&JudgedPhase>, Vec<&JudgedPhase>) =
        gate.phases.iter().partition(|phase| phase.verdict.fails());
    others.sort_by(|a, b| a.p.unwrap_or(2.0).total_cmp(&b.p.unwrap_or(2.0)));
    let row = |judged: &&JudgedPhase| {
        let tone = if judged.verdict.fails() { Tone::Bad } else { Tone::Plain };
        let texts = [
            format::duration(judged.old_ns),
            format::duration(judged.new_ns),
            format::or_dash(judged.ratio, format::ratio),
            format::or_dash(judged.interval, |ends| format::between(ends, format::ratio)),
            format::or_dash(judged.finds, excess),
            judged.verdict.name().to_owned(),
        ];
        let name = text::plain(&format!("{} {}", judged.cell, judged.phase));
        (name, texts.map(|value| Text::toned(value, tone)).to_vec())
    };
    let (slower, of) = (failing.len(), format::counted(gate.phases.len() as u64, "phase"));
    let title =
        format!("Phases: {slower} of {of} fail; then the others that are nearest to failing");
    let header = ["old", "new", "new/old", "95 % interval", "finds", ""];
    let rows = failing.iter().chain(others.iter().take(NEAREST)).map(row);
    Grid::new(title, header, rows.collect())
}

fn sections(gate: &Gate) -> Vec<Section> {
    let machine = match &gate.machine {
        Some(machine) => vec![note("references", describe_engine(machine))],
        None if gate.one_run => Vec::new(),
        None => vec![note(
            "",
            "no reference is in both results, so a change of the machine looks like one of the engine: add \
             memory to --engines, or measure old and new in one run",
        )],
    };
    let pairs = if gate.one_run { "; old and new of a round are a pair" } else { "" };
    let says = format!(
        "new/old is the ratio of the geometric means over the trials, and of a whole engine over its phases \
         too{pairs}. finds is the slowdown that would be found 95 times of 100. The probability of a false \
         alarm anywhere in this comparison is at most {}",
        format::percent(gate.false_alarms)
    );
    note::non_empty([
        ("Turned", compare::turned(&gate.turned)),
        ("In the old result only, not judged", note::lines(&gate.only_old)),
        ("In the new result only, not judged", note::lines(&gate.only_new)),
        ("Machine", machine),
        ("Not alike", note::lines(&gate.differences.remarks)),
        ("How to read it", vec![note("", says)]),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slowdown_that_only_astronomical_trials_would_show_has_no_digits() {
        let texts = [1.081, 1.12, 11.0, 11.1, 8.8e64].map(excess);
        assert_eq!(texts, ["8.1 %", "12 %", "1000 %", ">1,000 %", ">1,000 %"]);
    }
}
