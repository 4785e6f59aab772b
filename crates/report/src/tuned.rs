//! Formats the findings of `embermark tune` for a terminal and the page.

use std::fmt::Write as _;

use embermark_model::Storage;
use embermark_model::tuning_result::{
    Gain, Kept, Outcome, Set, Tried, Tuned, TuningResult, Uses, words,
};

use crate::format::{bytes, duration};
use crate::grid::{Grid, Text};
use crate::note::{Note, note};
use crate::notes::storage::imitated;

use crate::text::{clipped, joined, plain};

/// Longest message that is shown, in characters. The result file has all of it.
const LONGEST: usize = 300;

/// Formats the findings for one engine for a terminal.
pub fn text(name: &str, tuned: &Tuned, of: &TuningResult) -> String {
    let mut text = format!("\n{}\n\n", title(name, tuned, of));
    for Note { about, says } in notes(tuned, of) {
        let _ = writeln!(text, "  {about:10} {says}");
    }
    if tuned.found.better().is_some() {
        let indented =
            |lines: &[String]| joined(lines.iter().map(|one| format!("      {one}\n")), "");
        let _ = write!(text, "\n  in a program\n{}", indented(&tuned.in_a_program[1]));
        let _ = write!(text, "\n  in a plan file\n{}", indented(&in_a_plan(tuned)));
    }
    let Grid { title, header, rows } = candidates(tuned);
    let rows = rows.into_iter().map(|(set, texts)| {
        std::iter::once(set).chain(texts.into_iter().map(|text| text.value)).collect()
    });
    let header = std::iter::once(title.to_lowercase()).chain(header).collect();
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let (set, gain, trials) = (width(0), width(1), width(2));
    text.push('\n');
    for row in &rows {
        let [first, second, third, last] = &row[..] else { continue };
        let _ = writeln!(text, "  {first:set$}  {second:>gain$}  {third:>trials$}  {last}");
    }
    text
}

/// Returns the title: `sqlite, tier power, for sensors on sd-a1 (590 s)`.
pub(crate) fn title(name: &str, tuned: &Tuned, of: &TuningResult) -> String {
    plain(&format!("{name}, tier {}, for {} ({} s)", of.tier, work(of), tuned.seconds.round()))
}

/// Returns the workloads and the storage: `sensors, contacts on sd-a1`.
pub(crate) fn work(of: &TuningResult) -> String {
    let on = of.storage.as_ref().map(|storage| format!(" on {}", storage.name));
    of.workloads.join(", ") + &on.unwrap_or_default()
}

/// Returns the findings as notes.
pub(crate) fn notes(tuned: &Tuned, of: &TuningResult) -> Vec<Note> {
    let tier = of.tier;
    let mut notes = Vec::new();
    if let Some(Storage { name, .. }) = &of.storage {
        notes.push(note("storage", imitated(name.as_str())));
    }
    if !tuned.today.is_empty() {
        notes.push(note("today", settings(&tuned.today)));
    }
    match tuned.found.better() {
        None => notes.push(note("best", format!("today's settings{}", not_better(tuned)))),
        Some((winner, gain)) => {
            let fast = format!("{:.2}x as fast ({})", gain.ratio, certainty(gain));
            notes.extend([note("best", settings(winner)), note("gain", fast)]);
            notes.extend(by_phase(gain).map(|says| note("by phase", says)));
            notes.extend(tuned.uses.as_ref().map(|[today, new]| note("uses", uses(today, new))));
            notes.extend(tuned.because.iter().map(|because| {
                let (trades, manual) = (plain(&because.trades), plain(&because.manual));
                note("trades", format!("{}: {trades} ({manual})", settings(&because.set)))
            }));
            notes.extend(
                tuned.found.kept.iter().map(|how| note("keeps", format!("{tier}: {}", kept(how)))),
            );
        }
    }
    let last = tuned.last_run.join("result.json");
    notes.push(note("last run", plain(&format!("embermark report {}", last.display()))));
    let left_out = tuned.found.left_out.iter();
    notes
        .extend(left_out.map(|what| note("left out", plain(&format!("for lack of time, {what}")))));
    notes
}

/// Returns a table of all engines: the best settings, what they gain and use, and the evidence.
pub(crate) fn overview(of: &TuningResult) -> Grid {
    let header = [
        "best settings",
        "gain",
        "95 % interval",
        "by phase",
        "memory",
        "disk",
        "opening",
        "keeps the tier",
    ];
    let row = |(name, tuned): (&String, &Tuned)| {
        let dash = || "-".to_owned();
        let Some((winner, gain)) = tuned.found.better() else {
            let best = std::iter::once("today's settings".to_owned());
            let texts = best.chain((1..header.len()).map(|_| dash()));
            return (plain(name), texts.map(Text::new).collect());
        };
        let interval = gain.interval.map(|[low, high]| format!("{low:.2} to {high:.2}"));
        let [memory, disk, opening] = match &tuned.uses {
            Some([today, new]) => used(today, new).map(|pair| pair.unwrap_or_else(dash)),
            None => [dash(), dash(), dash()],
        };
        let texts = [
            settings(winner),
            format!("{:.2}x", gain.ratio),
            interval.unwrap_or_else(dash),
            by_phase(gain).unwrap_or_else(dash),
            memory,
            disk,
            opening,
            tuned.found.kept.as_ref().map_or_else(dash, kept),
        ];
        (plain(name), texts.map(Text::new).into())
    };
    Grid {
        title: "Best settings".to_owned(),
        header: header.map(str::to_owned).into(),
        rows: of.engines.iter().map(row).collect(),
    }
}

/// Returns the winner's settings that mattered, each with its own gain and its trade-off.
pub(crate) fn because(tuned: &Tuned) -> Grid {
    let rows = tuned.because.iter().map(|because| {
        let tried = tuned.found.tried.iter().find(|tried| tried.set == because.set);
        let texts = [gain_of(tried), plain(&because.trades), plain(&because.manual)];
        (settings(&because.set), texts.map(Text::new).into())
    });
    Grid {
        title: "What mattered".to_owned(),
        header: ["gain by itself", "trades", "manual"].map(str::to_owned).into(),
        rows: rows.collect(),
    }
}

/// Returns every candidate with its gain and its outcome.
pub(crate) fn candidates(tuned: &Tuned) -> Grid {
    let row = |tried: &Tried| {
        let texts =
            [gain_of(Some(tried)), tried.trials.to_string(), outcome(tuned, &tried.outcome)];
        (settings(&tried.set), texts.map(Text::new).into())
    };
    Grid {
        title: "Tried".to_owned(),
        header: ["gain", "trials", ""].map(str::to_owned).into(),
        rows: tuned.found.tried.iter().map(row).collect(),
    }
}

/// Formats today's settings, overridden by the winner's, as lines of a plan file.
pub(crate) fn in_a_plan(tuned: &Tuned) -> Vec<String> {
    let all: Set = tuned.today.clone().into_iter().chain(tuned.found.winner.clone()).collect();
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let quoted = |name: &str| match name.chars().all(is_bare) {
        true => name.to_owned(),
        false => format!("{name:?}"),
    };
    let pairs = all.iter().map(|(name, value)| format!("{} = {value:?}", quoted(name)));
    vec![
        "[configuration.tuned]".to_owned(),
        format!("engine = {:?}", tuned.engine),
        format!("settings = {{ {} }}", joined(pairs, ", ")),
    ]
}

fn settings(set: &Set) -> String {
    plain(&words(set))
}

fn gain_of(tried: Option<&Tried>) -> String {
    let gain = tried.and_then(|tried| tried.gain);
    gain.map_or_else(|| "-".to_owned(), |gain| format!("{gain:.2}x"))
}

fn outcome(tuned: &Tuned, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Taken if tuned.found.better().is_none() => {
            "the best, and no gain when measured again".to_owned()
        }
        Outcome::Taken => "taken".to_owned(),
        Outcome::NotFaster => "not clearly faster".to_owned(),
        Outcome::NotOnTop => "not clearly faster on top of what was taken".to_owned(),
        Outcome::Instead => "something else was taken for it".to_owned(),
        Outcome::Broken { lost } => {
            format!("loses what the tier promises: {}", clipped(lost, LONGEST))
        }
        Outcome::Weaker { keeps, trades, manual } => {
            plain(&format!("not tried: keeps {keeps} at most, by its manual: {trades} ({manual})"))
        }
        Outcome::Out { why } => clipped(why, LONGEST),
    }
}

fn certainty(gain: &Gain) -> String {
    let range = gain.interval.map(|[low, high]| format!("95 % interval {low:.2} to {high:.2}; "));
    let range = range.unwrap_or_default();
    format!("{range}{} trials of each that the search did not see", gain.trials)
}

/// Returns the gain by phase. `None` for one phase, where it equals the total gain.
fn by_phase(gain: &Gain) -> Option<String> {
    let phases = gain.phases.iter().map(|(phase, ratio)| plain(&format!("{phase} {ratio:.2}x")));
    (gain.phases.len() > 1).then(|| joined(phases, ", "))
}

/// Explains why today's settings stay.
fn not_better(tuned: &Tuned) -> String {
    match &tuned.found.gain {
        None => String::new(),
        Some(gain) => format!(
            "; the best of the search, {}, reached {:.2}x of them ({}): less than {:.0} %, or not certain",
            settings(&tuned.found.winner),
            gain.ratio,
            certainty(gain),
            (Gain::LEAST - 1.0) * 100.0
        ),
    }
}

fn kept(kept: &Kept) -> String {
    match kept {
        Kept::Shown { kills, states: 0 } => format!("{kills} kills lost nothing that it promises"),
        Kept::Shown { kills, states } => format!(
            "{kills} kills and {states} states of a disk after a power cut lost nothing that it promises"
        ),
        Kept::ByManual { why } => format!("by the manual; {}", clipped(why, LONGEST)),
        Kept::Broken { lost } => format!("no: {}", clipped(lost, LONGEST)),
    }
}

/// Compares memory, disk and opening time of the winner with today's settings, where both were
/// measured.
fn used(today: &Uses, new: &Uses) -> [Option<String>; 3] {
    let pair = |today: Option<f64>, new: Option<f64>, shown: fn(f64) -> String| {
        let (today, new) = today.zip(new)?;
        Some(format!("{} (today {})", shown(new), shown(today)))
    };
    [
        pair(today.memory, new.memory, bytes),
        pair(today.disk, new.disk, bytes),
        pair(today.open, new.open, duration),
    ]
}

fn uses(today: &Uses, new: &Uses) -> String {
    let named = ["memory", "disk", "opening"].into_iter().zip(used(today, new));
    let all: Vec<String> =
        named.filter_map(|(name, pair)| Some(format!("{name} {}", pair?))).collect();
    if all.is_empty() { "not measured".to_owned() } else { all.join(", ") }
}
