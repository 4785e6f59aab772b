use super::*;

fn fixture() -> Outcome {
    let path = "../report/tests/fixtures/durability-1.json";
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

fn width(line: &str) -> usize {
    line.chars().count()
}

/// Commands are to be copied: they are as long as they are.
fn is_command(line: &str) -> bool {
    ["cp ", "mount ", "ls "].iter().any(|begin| line.trim_start().starts_with(begin))
}

#[test]
fn it_fits_the_width_and_wraps_nothing_but_what_was_found() {
    let outcome = fixture();
    for columns in [100, 120, 200] {
        let text = text(&outcome, columns);
        for line in text.lines().filter(|line| !is_command(line)) {
            assert!(width(line) <= columns, "{} columns: {line}", width(line));
        }
        for tested in &outcome.tested {
            let words = [&tested.engine, &tested.version, tested.durability.name()];
            let is_row = |line: &str| {
                let row: Vec<&str> = line.split_whitespace().collect();
                row.len() > 4 && row[..3] == words && row.contains(&&*tested.tried.to_string())
            };
            assert!(text.lines().any(is_row), "{words:?} in\n{text}");
        }
    }
    assert_eq!(text(&outcome, 40), text(&outcome, NARROWEST));
}

#[test]
fn what_is_rare_stands_below_with_what_it_is_of() {
    let mut outcome = fixture();
    let text_of = |outcome: &Outcome| text(outcome, 120);
    for tested in &mut outcome.tested {
        (tested.not_mounted, tested.exhaustive) = (0, None);
    }
    outcome.not_tried.clear();
    let without = text_of(&outcome);
    for word in ["not mounted", "exhaustive", "not tried", "failed"] {
        assert!(!without.contains(word), "{word} in\n{without}");
    }
    outcome.tested[0].not_mounted = 29;
    let (engine, tier) = (&outcome.tested[0].engine, outcome.tested[0].durability);
    let not = |experiment, failed| embermark_durability::journal::NotTried {
        engine: "zen".into(),
        durability: tier,
        experiment,
        why: "it is not here".into(),
        failed,
    };
    let all = [Experiment::Kill, Experiment::PowerCut].map(|one| not(one, false));
    let said = format!("{engine} {tier} 29");
    outcome.not_tried.extend(all);
    outcome.not_tried.push(not(Experiment::DeviceLies, true));
    let with = text_of(&outcome);
    assert!(with.contains(&said), "{with}");
    let lines = [
        format!("  not tried    zen {tier}, kill and power cut: it is not here"),
        format!("  failed       zen {tier}, {}: it is not here", Experiment::DeviceLies.name()),
    ];
    for line in lines {
        assert!(with.lines().any(|other| *other == line), "{line} in\n{with}");
    }
}

#[test]
fn a_row_has_the_time_to_open_after_each_experiment() {
    let outcome = fixture();
    let text = text(&outcome, 120);
    let (_, takes) = text.split_once("(after a close)").unwrap();
    let rows = takes.lines().filter(|line| line.contains("flushes")).count();
    let commits = outcome.tested.iter().filter(|tested| tested.commit.is_some());
    let tiers: std::collections::BTreeSet<_> =
        commits.map(|tested| (&tested.engine, tested.durability.name())).collect();
    assert_eq!(rows, tiers.len(), "{text}");
}
