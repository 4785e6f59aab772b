//! Formats the findings of `embermark tune` for a terminal and the page.

use std::fmt::Write as _;

use embermark_model::Storage;
use embermark_model::tuning_result::{
    Gain, Kept, Outcome, Set, Tried, Tuned, TuningResult, Uses, words,
};
use serde::Serialize;

use crate::format::{bytes, counted, duration};
use crate::grid::{Grid, Text};
use crate::note::{Note, note};
use crate::notes::{self, storage::imitated};
use crate::text::{clipped, joined, plain, word};

/// Longest message that is shown, in characters. The result file has all of it.
const LONGEST: usize = 300;

/// Formats the findings for one engine for a terminal.
pub fn text(name: &str, tuned: &Tuned, of: &TuningResult) -> String {
    let mut text = format!("\n{}\n\n", title(name, tuned, of));
    for Note { about, says } in findings(tuned, of) {
        let _ = writeln!(text, "  {about:10} {says}");
    }
    if tuned.found.better().is_some() {
        let indented =
            |lines: &[String]| joined(lines.iter().map(|one| format!("      {one}\n")), "");
        let _ = write!(text, "\n  in a program\n{}", indented(&tuned.in_a_program[1]));
        let _ = write!(text, "\n  in a plan file\n{}", indented(&in_a_plan(tuned)));
    }
    let heading = ["tried", "gain", "trials", ""].map(str::to_owned);
    let tried = tuned.found.tried.iter().map(|tried| candidate(tuned, tried));
    let rows: Vec<[String; 4]> = [heading].into_iter().chain(tried).collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let (set, gain, trials) = (width(0), width(1), width(2));
    text.push('\n');
    for [first, second, third, last] in &rows {
        let _ = writeln!(text, "  {first:set$}  {second:>gain$}  {third:>trials$}  {last}");
    }
    text
}

/// Returns the title: `sqlite, tier power, for sensors on sd-a1 (590 s)`.
fn title(name: &str, tuned: &Tuned, of: &TuningResult) -> String {
    plain(&format!("{name}, tier {}, for {} ({} s)", of.tier, work(of), tuned.seconds.round()))
}

/// Returns the workloads and the storage: `sensors, contacts on sd-a1`.
fn work(of: &TuningResult) -> String {
    let on = of.storage.as_ref().map(|storage| format!(" on {}", storage.name));
    of.workloads.join(", ") + &on.unwrap_or_default()
}

/// Returns the findings as notes.
fn findings(tuned: &Tuned, of: &TuningResult) -> Vec<Note> {
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
            let keeps = tuned.found.kept.iter().map(|how| format!("{tier}: {}", kept(how)));
            notes.extend(keeps.map(|says| note("keeps", says)));
        }
    }
    let last = tuned.last_run.join("result.json");
    let last = word(&last.display().to_string());
    notes.push(note("last run", format!("embermark report {last}")));
    let left_out = tuned.found.left_out.iter().map(|what| format!("for lack of time, {what}"));
    notes.extend(left_out.map(|says| note("left out", plain(&says))));
    notes
}

/// Returns a table of all engines: the best settings, what they gain and use, and the evidence.
fn overview(of: &TuningResult) -> Grid {
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
            let mut texts = vec![Text::new("-"); header.len()];
            texts[0] = Text::new("today's settings");
            return (plain(name), texts);
        };
        let interval = gain.interval.map(|[low, high]| format!("{low:.2} to {high:.2}"));
        let used = tuned.uses.as_ref().map(|[today, new]| used(today, new)).unwrap_or_default();
        let [memory, disk, opening] = used.map(|pair| pair.unwrap_or_else(dash));
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
    Grid::new("Best settings", header, of.engines.iter().map(row).collect())
}

/// Returns the winner's settings that mattered, each with its own gain and its trade-off.
fn because(tuned: &Tuned) -> Grid {
    let rows = tuned.because.iter().map(|because| {
        let tried = tuned.found.tried.iter().find(|tried| tried.set == because.set);
        let texts = [gain_of(tried), plain(&because.trades), plain(&because.manual)];
        (settings(&because.set), texts.map(Text::new).into())
    });
    Grid::new("What mattered", ["gain by itself", "trades", "manual"], rows.collect())
}

/// Returns every candidate with its gain and its outcome.
fn candidates(tuned: &Tuned) -> Grid {
    let rows = tuned.found.tried.iter().map(|tried| {
        let [set, texts @ ..] = candidate(tuned, tried);
        (set, texts.map(Text::new).into())
    });
    Grid::new("Tried", ["gain", "trials", ""], rows.collect())
}

/// Returns a candidate's settings, gain, number of trials and outcome.
fn candidate(tuned: &Tuned, tried: &Tried) -> [String; 4] {
    let (gain, trials) = (gain_of(Some(tried)), tried.trials.to_string());
    [settings(&tried.set), gain, trials, outcome(tuned, &tried.outcome)]
}

/// Formats today's settings, overridden by the winner's, as lines of a plan file.
fn in_a_plan(tuned: &Tuned) -> Vec<String> {
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
        Kept::Shown { kills, states } => {
            let kills = counted(u64::from(*kills), "kill");
            let states = match states {
                0 => String::new(),
                _ => {
                    let states = counted(u64::from(*states), "state");
                    format!(" and {states} of a disk after a power cut")
                }
            };
            format!("{kills}{states} lost nothing that it promises")
        }
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
    let all = joined(named.filter_map(|(name, pair)| Some(format!("{name} {}", pair?))), ", ");
    if all.is_empty() { "not measured".to_owned() } else { all }
}

/// The engines that were tuned.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Tuning"))]
pub struct TuningData {
    /// The workload, the tier and the machine.
    about: String,
    /// The table with a line for each engine.
    overview: Grid,
    /// Each engine with its candidates.
    engines: Vec<EngineData>,
}

/// One engine.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TunedEngine"))]
struct EngineData {
    /// Its heading.
    title: String,
    /// Notes on the search and its outcome.
    notes: Vec<Note>,
    /// Better settings. Absent if today's settings are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    better: Option<BetterData>,
    /// The table with a line for each candidate.
    candidates: Grid,
}

/// Better settings than today's.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "BetterSettings"))]
struct BetterData {
    /// The figures that show it.
    because: Grid,
    /// The lines to paste into a program.
    program: String,
    /// The lines to paste into a plan file.
    plan: String,
}

impl TuningData {
    pub(crate) fn new(result: &TuningResult) -> Self {
        let machine = result.machine.as_ref().map(|of| format!(" · {}", notes::machine(of)));
        let about = format!("tier {}, for {}", result.tier, work(result));
        Self {
            about: plain(&(about + &machine.unwrap_or_default())),
            overview: overview(result),
            engines: (result.engines.iter())
                .map(|(name, one)| EngineData {
                    title: title(name, one, result),
                    notes: findings(one, result),
                    better: one.found.better().map(|_| BetterData {
                        because: because(one),
                        program: one.in_a_program[1].join("\n"),
                        plan: in_a_plan(one).join("\n"),
                    }),
                    candidates: candidates(one),
                })
                .collect(),
        }
    }
}
