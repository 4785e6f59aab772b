use embermark_model::Durability;
use embermark_model::answer::Value;
use embermark_model::result::Trial;

use super::*;

fn ended(engine: &str, scale: u64, number: f64) -> EndedTrial {
    let cell = CellId {
        workload: "w".to_owned(),
        scale: Scale::Rows(scale),
        durability: Durability::None,
        variant: "as-written".to_owned(),
        engine: engine.to_owned(),
        memory_limit: None,
    };
    let values = vec![Value::Float(number)];
    let unchecked = Some(ResultSet { columns: 1, ordered: false, values });
    let phase = PhaseResult { phase: "report".to_owned(), unchecked, ..PhaseResult::default() };
    EndedTrial { cell, trial: Trial { phases: vec![phase], ..Trial::default() } }
}

fn settled(mut trials: Vec<EndedTrial>) -> Vec<(Status, Status, String)> {
    let mut counted = trials.clone();
    settle(&mut trials, &mut [&mut counted]);
    assert!(trials.iter().chain(&counted).all(|ended| ended.trial.phases[0].unchecked.is_none()));
    let said = trials.into_iter().map(|EndedTrial { trial, .. }| {
        let phase = &trial.phases[0];
        let said = phase.reason.as_ref().or(phase.checked_by.as_ref());
        (trial.status, phase.status, said.unwrap().clone())
    });
    said.collect()
}

#[test]
fn engines_agree_or_are_alone_each_at_its_scale() {
    let twice = [ended("a", 10, 1.0), ended("a", 10, 1.0)];
    let others = [ended("b", 10, 1.0), ended("c", 20, 2.0)];
    let said = settled(twice.into_iter().chain(others).collect());
    let both = (Status::Ok, Status::Ok, "agreed by 2 engines".to_owned());
    assert!(said[..3].iter().all(|said| *said == both), "{said:?}");
    let alone = "unchecked: no other engine has answered".to_owned();
    assert_eq!(said[3], (Status::Ok, Status::Ok, alone));
}

#[test]
fn where_two_differ_it_is_disputed_for_all() {
    let said = settled(vec![ended("a", 10, 1.0), ended("b", 10, 1.0), ended("c", 10, 2.0)]);
    let why = (Status::Disputed, Status::Disputed, "a says (1), c says (2)".to_owned());
    assert!(said.iter().all(|said| *said == why), "{said:?}");
}
