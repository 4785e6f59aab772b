//! What a search found, as text.

use std::fmt::Write as _;

use embermark_model::Durability;
use embermark_report::text as texts;
use embermark_tune::{Gain, Kept, Outcome, Set, Subject, words};

use super::{Tuned, Uses};

/// The text of one engine.
pub(super) fn text(
    subject: &Subject,
    tuned: &Tuned,
    tier: Durability,
    workloads: &[String],
) -> String {
    let mut text = String::new();
    let seconds = tuned.seconds.round();
    let _ = writeln!(
        text,
        "\n{}, tier {tier}, for {} ({seconds} s)\n",
        subject.name,
        workloads.join(", ")
    );
    if !tuned.today.is_empty() {
        let _ = writeln!(text, "  today      {}", words(&tuned.today));
    }
    match tuned.found.better() {
        Some((winner, gain)) => better(&mut text, tuned, winner, gain, tier),
        None => {
            let _ = writeln!(text, "  best       today's settings{}", not_better(tuned));
        }
    }
    let _ = writeln!(
        text,
        "  last run   embermark report {}",
        tuned.last_run.join("result.json").display()
    );
    for left_out in &tuned.found.left_out {
        let _ = writeln!(text, "  left out   for want of time, {left_out}");
    }
    let _ = writeln!(text);
    tried(&mut text, tuned);
    text
}

fn interval(gain: &Gain) -> String {
    let range = gain.interval.map(|[low, high]| format!("95 % interval {low:.2} to {high:.2}; "));
    format!(
        "{}{} trials of each that the search did not see",
        range.unwrap_or_default(),
        gain.trials
    )
}

fn better(text: &mut String, tuned: &Tuned, winner: &Set, gain: &Gain, tier: Durability) {
    let _ = writeln!(text, "  best       {}", words(winner));
    let _ = writeln!(text, "  gain       {:.2}x as fast ({})", gain.ratio, interval(gain));
    if gain.phases.len() > 1 {
        let phases = gain.phases.iter().map(|(phase, ratio)| format!("{phase} {ratio:.2}x"));
        let _ = writeln!(text, "  by phase   {}", phases.collect::<Vec<_>>().join(", "));
    }
    if let Some([today, new]) = &tuned.uses {
        let _ = writeln!(text, "  uses       {}", uses(today, new));
    }
    for because in &tuned.because {
        let _ = writeln!(
            text,
            "  trades     {}: {} ({})",
            words(&because.set),
            because.trades,
            because.manual
        );
    }
    let kept = match &tuned.found.kept {
        Some(Kept::Shown { kills, states: 0 }) => {
            format!("{kills} kills lost nothing that it promises")
        }
        Some(Kept::Shown { kills, states }) => {
            format!(
                "{kills} kills and {states} states of a disk after a power cut lost nothing that it promises"
            )
        }
        Some(Kept::ByManual { why }) => format!("by the manual; {why}"),
        Some(Kept::Broken { lost }) => format!("no: {lost}"),
        None => String::new(),
    };
    let _ = writeln!(text, "  keeps      {tier}: {kept}");
    let _ = writeln!(text, "\n  in a program");
    for line in &tuned.in_a_program[1] {
        let _ = writeln!(text, "      {line}");
    }
    let _ = writeln!(
        text,
        "\n  in a plan file\n      [configuration.tuned]\n      engine = \"{}\"\n      settings = {}",
        tuned.engine,
        toml(tuned, winner)
    );
}

/// Today's settings with the winner's on top, as TOML has them.
fn toml(tuned: &Tuned, winner: &Set) -> String {
    let all: Set = tuned
        .today
        .iter()
        .chain(winner)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let quoted = |name: &str| match name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    {
        true => name.to_owned(),
        false => format!("{name:?}"),
    };
    let pairs = all.iter().map(|(name, value)| format!("{} = {value:?}", quoted(name)));
    format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
}

/// Why today's settings stay.
fn not_better(tuned: &Tuned) -> String {
    match &tuned.found.gain {
        None => String::new(),
        Some(gain) => format!(
            "; the best of the search, {}, came to {:.2}x beside them ({}): less than {:.0} %, or not certain",
            words(&tuned.found.winner),
            gain.ratio,
            interval(gain),
            (Gain::LEAST - 1.0) * 100.0
        ),
    }
}

/// A table of what was tried.
fn tried(text: &mut String, tuned: &Tuned) {
    let rows: Vec<[String; 4]> = (tuned.found.tried.iter())
        .map(|tried| {
            let outcome = match &tried.outcome {
                Outcome::Taken if tuned.found.better().is_none() => {
                    "the best, and no gain when measured again".to_owned()
                }
                Outcome::Taken => "taken".to_owned(),
                Outcome::NotFaster => "not faster".to_owned(),
                Outcome::NotOnTop => "not faster on top of what was taken".to_owned(),
                Outcome::Instead => "something else was taken for it".to_owned(),
                Outcome::Broken { lost } => format!("loses what the tier promises: {lost}"),
                Outcome::Out { why } => why.clone(),
            };
            let gain = tried.gain.map_or_else(|| "-".to_owned(), |gain| format!("{gain:.2}x"));
            [words(&tried.set), gain, tried.trials.to_string(), texts::plain(&outcome)]
        })
        .collect();
    let width =
        |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(6);
    let (first, second, third) = (width(0), width(1), width(2));
    let _ = writeln!(text, "  {:first$}  {:>second$}  {:>third$}", "tried", "gain", "trials");
    for [set, gain, trials, outcome] in &rows {
        let _ = writeln!(text, "  {set:first$}  {gain:>second$}  {trials:>third$}  {outcome}");
    }
}

/// What the winner uses, and today's settings.
fn uses(today: &Uses, new: &Uses) -> String {
    let bytes = |value: f64| format!("{:.1} MB", value / 1e6);
    let ms = |value: f64| format!("{:.1} ms", value / 1e6);
    let pair = |what: &str, today: Option<f64>, new: Option<f64>, shown: &dyn Fn(f64) -> String| {
        let (today, new) = today.zip(new)?;
        Some(format!("{what} {} (today {})", shown(new), shown(today)))
    };
    let all = [
        pair("memory", today.memory, new.memory, &bytes),
        pair("disk", today.disk, new.disk, &bytes),
        pair("opening", today.open, new.open, &ms),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() { "not measured".to_owned() } else { all.join(", ") }
}
