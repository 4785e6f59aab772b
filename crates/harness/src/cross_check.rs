//! Compares the engines' answers to queries without a known right answer.

use std::collections::BTreeMap;

use embermark_model::result::PhaseResult;
use embermark_model::result_set::FirstDifference;
use embermark_model::{CellId, ResultSet, Scale, Status};

use crate::journal::EndedTrial;

/// Workload, scale and phase of a query.
type QueryKey = (String, Scale, String);

/// Answers to a query, one per engine. `Err` describes the first difference.
type Answers = Result<Vec<(String, ResultSet)>, String>;

/// Removes the unchecked answers from trials and records for each the number of engines that agree.
/// If any two differ, the phase is disputed. In `others` the answers are only removed.
pub(crate) fn check_answers(trials: &mut [EndedTrial], others: &mut [&mut Vec<EndedTrial>]) {
    let mut queries: BTreeMap<QueryKey, Answers> = BTreeMap::new();
    // In the order of cells, because trials run in random order.
    let mut by_cell: Vec<&EndedTrial> = trials.iter().collect();
    by_cell.sort_by(|a, b| a.cell.cmp(&b.cell));
    for EndedTrial { cell, trial } in by_cell {
        for phase in &trial.phases {
            let Some(answer) = &phase.unchecked else { continue };
            let answers = queries.entry(query_key(cell, phase)).or_insert_with(|| Ok(Vec::new()));
            add_answer(answers, &cell.engine, answer);
        }
    }
    for EndedTrial { cell, trial } in trials {
        for phase in &mut trial.phases {
            if phase.unchecked.take().is_some() {
                set_outcome(queries.get(&query_key(cell, phase)), phase);
            }
        }
        trial.update_status();
    }
    let others = others.iter_mut().flat_map(|trials| trials.iter_mut());
    for phase in others.flat_map(|ended| &mut ended.trial.phases) {
        phase.unchecked = None;
    }
}

fn query_key(cell: &CellId, phase: &PhaseResult) -> QueryKey {
    (cell.workload.clone(), cell.scale, phase.phase.clone())
}

fn add_answer(answers: &mut Answers, engine: &str, answer: &ResultSet) {
    let Ok(all) = answers else { return };
    if let Some((first, before)) = all.first()
        && let Some(FirstDifference(one, other)) = before.first_difference(answer)
    {
        *answers = Err(format!("{first} says {one}, {engine} says {other}"));
    } else if all.iter().all(|(known, _)| known != engine) {
        all.push((engine.to_owned(), answer.clone()));
    }
}

fn set_outcome(answers: Option<&Answers>, phase: &mut PhaseResult) {
    match answers {
        Some(Err(why)) => (phase.status, phase.reason) = (Status::Disputed, Some(why.clone())),
        Some(Ok(all)) if all.len() > 1 => {
            phase.checked_by = Some(format!("agreed by {} engines", all.len()));
        }
        _ => phase.checked_by = Some("unchecked: no other engine has answered".to_owned()),
    }
}

#[cfg(test)]
mod tests {
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
            storage: None,
        };
        let values = vec![Value::Float(number)];
        let unchecked = Some(ResultSet { columns: 1, ordered: false, values });
        let phase = PhaseResult { phase: "report".to_owned(), unchecked, ..PhaseResult::default() };
        EndedTrial { cell, trial: Trial { phases: vec![phase], ..Trial::default() } }
    }

    fn settled(mut trials: Vec<EndedTrial>) -> Vec<(Status, Status, String)> {
        let mut counted = trials.clone();
        check_answers(&mut trials, &mut [&mut counted]);
        assert!(
            trials.iter().chain(&counted).all(|ended| ended.trial.phases[0].unchecked.is_none())
        );
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
}
