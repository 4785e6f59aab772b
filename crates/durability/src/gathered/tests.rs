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
        exhaustive: None,
        verdicts: BTreeMap::new(),
        loss: None,
        open_ns: None,
        clean_open_ns: None,
        commit: None,
        full_disk: None,
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
fn of_each_verdict_the_example_with_the_fewest_commits_is_kept_and_one_without_a_torn_block_first()
{
    let mut gathered = Gathered::default();
    for (torn, acknowledged, verdict) in [
        (true, 1, Verdict::NotOpened),
        (false, 7, Verdict::NotOpened),
        (false, 4, Verdict::NotOpened),
        (false, 5, Verdict::NotOpened),
        (true, 0, Verdict::NotOpened),
        (false, 9, Verdict::Holds),
        (false, 0, Verdict::HalfMade),
    ] {
        let of = || format!("cut {acknowledged}");
        let promised = [Promised::after(acknowledged)];
        gathered.add(of, torn, &promised, looked(verdict), None, || acknowledged);
    }
    let mut kept = Vec::new();
    let tested = gathered.ended(tested(), |example, keep| {
        kept.push((example.verdict, keep));
        Ok::<_, ()>(None)
    });
    let tested = tested.unwrap();
    kept.sort();
    assert_eq!(kept, [(Verdict::NotOpened, 4), (Verdict::HalfMade, 0)]);
    assert_eq!((tested.tried, tested.violations(), tested.open_ns), (7, 5, Some(5)));
    // What is not promised is told and no violation.
    let weaker = Tested { durability: Durability::Process, ..tested };
    assert_eq!((weaker.violations(), weaker.broken()), (0, 5));
}

#[test]
fn a_verdict_that_is_taken_back_is_not_counted() {
    let mut gathered = Gathered::default();
    for verdict in [Verdict::Holds, Verdict::LostCommits, Verdict::Holds] {
        gathered.add(String::new, false, &[], looked(verdict), None, || ());
    }
    gathered.take_back();
    gathered.add(String::new, false, &[], looked(Verdict::CheckFailed), None, || ());
    gathered.take_back();
    gathered.take_back(); // the one before stays
    let tested = gathered.ended(tested(), |_, ()| Ok::<_, ()>(None)).unwrap();
    assert_eq!(tested.tried, 2);
    let verdicts = [(Verdict::Holds, 1), (Verdict::LostCommits, 1)];
    assert_eq!(tested.verdicts, BTreeMap::from(verdicts));
}
