use embermark_model::Durability;

use super::*;
use crate::outcome::Experiment;

fn looked(verdict: Verdict) -> Looked {
    Looked { verdict, client: 0, last: None, open_ns: Some(5), message: None }
}

fn tested() -> Tested {
    Tested {
        engine: "one".to_owned(),
        configuration: None,
        version: String::new(),
        durability: Durability::Power,
        effective_durability: None,
        experiment: Experiment::PowerCut,
        tried: 0,
        second: 0,
        not_mounted: 0,
        torn_blocks: 0,
        verdicts: BTreeMap::new(),
        loss: None,
        open_ns: None,
        clean_open_ns: None,
        commit: None,
        took_ms: 0,
        examples: Vec::new(),
    }
}

#[test]
fn the_window_of_loss_is_over_all_tries_and_one_without_a_loss_has_none() {
    let lost = |commits, ms| Lost { commits, ms, everything: commits == 9 };
    let all = [0, 0, 2, 3, 9].map(|n| lost(n, n as f64 * 10.0)).to_vec();
    let window = loss(all).unwrap();
    assert_eq!((window.median_commits, window.worst_commits), (2, 9));
    assert_eq!((window.median_ms, window.worst_ms, window.everything), (20.0, 90.0, true));
    assert_eq!(loss(vec![lost(0, 0.0); 3]), None);
    assert_eq!(loss(Vec::new()), None);
}

#[test]
fn of_each_verdict_the_example_with_the_fewest_commits_is_kept() {
    let mut gathered = Gathered::default();
    for (acknowledged, verdict) in [
        (7, Verdict::NotOpened),
        (4, Verdict::NotOpened),
        (5, Verdict::NotOpened),
        (9, Verdict::Holds),
        (0, Verdict::HalfMade),
    ] {
        let of = || format!("cut {acknowledged}");
        let promised = [Promised::after(acknowledged)];
        gathered.add(of, &promised, looked(verdict), None, || acknowledged);
    }
    let mut kept = Vec::new();
    let tested = gathered.ended(tested(), |example, keep| {
        kept.push((example.verdict, keep));
        Ok::<_, ()>(None)
    });
    let tested = tested.unwrap();
    kept.sort();
    assert_eq!(kept, [(Verdict::NotOpened, 4), (Verdict::HalfMade, 0)]);
    assert_eq!((tested.tried, tested.violations(), tested.open_ns), (5, 3, Some(5)));
    // What is not promised is told and no violation.
    let weaker = Tested { durability: Durability::Process, ..tested };
    assert_eq!((weaker.violations(), weaker.broken()), (0, 3));
}
