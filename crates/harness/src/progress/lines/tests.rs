use embermark_model::{Durability, Scale};

use super::*;

fn cell() -> CellId {
    CellId {
        workload: "sensors".into(),
        scale: Scale::Rows(10_000),
        durability: Durability::Process,
        variant: "single".into(),
        engine: "sqlite".into(),
        memory_limit: None,
    }
}

#[test]
fn each_trial_is_one_line_with_its_ending() {
    let cell = cell();
    let mut lines = Lines::new(Vec::new());
    lines.started(24);
    lines.trial(3, &cell, 0);
    lines.phase("load", 1, 6);
    lines.trial_ended(Status::Ok, None, Duration::from_millis(2_140));
    lines.trial(14, &cell, 1);
    lines.trial_ended(Status::Wrong, Some("read: no"), Duration::from_millis(10));
    lines.finished();
    assert_eq!(
        String::from_utf8(lines.to).unwrap(),
        "[ 3/24] sqlite sensors 10k process single: ok 2.1 s\n\
         [14/24] sqlite sensors 10k process single #2: wrong 0.0 s (read: no)\n"
    );
}

#[test]
fn from_the_third_trial_on_a_line_says_how_long_the_others_will_take() {
    let mut lines = Lines::new(Vec::new());
    lines.started(5);
    for number in 1..=5 {
        lines.trial(number, &cell(), 0);
        lines.trial_ended(Status::Ok, None, Duration::from_secs(u64::from(number) * 10));
    }
    let shown = String::from_utf8(lines.to).unwrap();
    let says: Vec<&str> =
        shown.lines().filter_map(|line| line.split_once(": ok ")).map(|l| l.1).collect();
    assert_eq!(
        says,
        [
            "10.0 s",
            "20.0 s",
            "30.0 s, about 40 seconds to go",
            "40.0 s, about 25 seconds to go",
            "50.0 s"
        ]
    );
}
