use embermark_model::result::{EnergySource, Period, PhaseResult};

use super::*;

/// A run of 4 s, that many joules by a source that draws 2 W idle, within 0.25 W.
fn run(source: &str, joules: f64, ops: u64) -> Run {
    let source = EnergySource {
        id: source.to_owned(),
        idle_watts: Some(2.0),
        idle_spread_watts: Some(0.25),
        ..EnergySource::default()
    };
    Run {
        elapsed_ns: 4_000_000_000,
        ops,
        period: Some(Period { began: String::new(), lasted_ns: 4_000_000_000 }),
        energy: Some(Energy::of(&source, joules, 4.0)),
        ..Run::default()
    }
}

fn trial(phases: Vec<(&str, Vec<Run>)>) -> Trial {
    let phase = |(name, runs): (&str, Vec<Run>)| PhaseResult {
        phase: name.to_owned(),
        ops: 10,
        runs,
        ..PhaseResult::default()
    };
    Trial { phases: phases.into_iter().map(phase).collect(), ..Trial::default() }
}

#[test]
fn a_trial_is_the_sum_of_its_phases_over_the_idle_draw() {
    let both = trial(vec![
        ("load", vec![run("meter", 18.0, 10), run("meter", 22.0, 10)]),
        ("read", vec![run("meter", 13.0, 10)]),
    ]);
    // (10 + 14) / 2, and 5.
    assert_eq!(of_trial(&both, None), Some(17.0));
    assert_eq!(of_trial(&both, Some("read")), Some(5.0));
    assert_eq!(of_trial(&both, Some("none")), None);
}

#[test]
fn what_is_not_told_apart_from_idle_and_what_is_not_whole_is_nothing() {
    // 0.9 J over idle, where the idle draw of 4 s is known within 1 J.
    assert_eq!(of_trial(&trial(vec![("load", vec![run("meter", 8.9, 10)])]), None), None);
    assert_eq!(of_trial(&trial(vec![("load", vec![run("meter", 7.0, 10)])]), None), None);
    assert!(of_trial(&trial(vec![("load", vec![run("meter", 9.1, 10)])]), None).is_some());
    let lacking = Run { energy: None, ..run("meter", 20.0, 10) };
    let part = trial(vec![("load", vec![run("meter", 20.0, 10)]), ("read", vec![lacking])]);
    assert_eq!(of_trial(&part, None), None);
    assert_eq!(of_trial(&part, Some("load")), Some(12.0));
    let mixed = trial(vec![("load", vec![run("meter", 20.0, 10), run("package", 20.0, 10)])]);
    assert_eq!(of_trial(&mixed, None), None, "what two sources say is no sum");
    let mut no_idle = run("meter", 20.0, 10);
    no_idle.energy.as_mut().unwrap().over_idle_joules = None;
    assert_eq!(of_trial(&trial(vec![("load", vec![no_idle])]), None), None);
}
