//! Selects the engines to tune, each with its candidates.

use std::collections::HashSet;

use embermark_engines::{Availability, Candidate, Engine, Kind, Tier, registry};
use embermark_model::tuning_result::{Outcome, Set, Tried};
use embermark_model::{Configuration, Configurations, Durability};
use embermark_tune::Subject;

use crate::error::Failure;
use crate::plan::parse_configuration;

/// One engine to tune.
pub(super) struct Task {
    pub engine: &'static dyn Engine,
    /// The engine with today's settings.
    pub subject: Subject,
    /// Candidate settings.
    pub candidates: Vec<Set>,
    /// Candidates that do not keep the tier according to the manual. They are only shown.
    pub weaker: Vec<Tried>,
}

impl Task {
    fn new(
        engine: &'static dyn Engine,
        name: &str,
        today: Configuration,
        tries: &[(String, Set)],
        tier: Durability,
    ) -> Self {
        let own = tries.iter().filter(|(id, _)| id == engine.info().id).map(|(_, set)| set.clone());
        let own: Vec<Set> = own.collect();
        let known = engine.settings().candidates;
        let (strong, weak): (Vec<&Candidate>, Vec<&Candidate>) =
            known.iter().partition(|one| one.keeps >= tier);
        let weak = weak.into_iter().filter(|one| !own.contains(&candidate_set(one)));
        let weak = weak.map(|candidate| {
            let (keeps, trades) = (candidate.keeps, candidate.trades.to_owned());
            let outcome = Outcome::Weaker { keeps, trades, manual: candidate.manual.to_owned() };
            Tried { set: candidate_set(candidate), trials: 0, gain: None, outcome }
        });
        Self {
            engine,
            subject: Subject { name: name.to_owned(), today },
            weaker: weak.collect(),
            candidates: strong.into_iter().map(candidate_set).chain(own).collect(),
        }
    }
}

/// Returns the settings of a candidate.
pub(super) fn candidate_set(candidate: &Candidate) -> Set {
    candidate.set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Parses candidates of the command line, by engine.
pub(super) fn parse_tries(tries: &[String]) -> Result<Vec<(String, Set)>, Failure> {
    let of = |text: &String| {
        let named = format!("try={text}");
        let (_, own) = parse_configuration(&named)
            .map_err(|_| usage!("--try {text}: write ENGINE:SETTING=VALUE,…"))?;
        Ok((own.engine, own.settings))
    };
    tries.iter().map(of).collect()
}

/// Returns the engines to tune in a tier: those that `words` name, then the configurations that
/// they do not name.
pub(super) fn tasks(
    words: &[String],
    own: &Configurations,
    tries: &[(String, Set)],
    tier: Durability,
) -> Result<Vec<Task>, Failure> {
    let configured = |name: &str, today: &Configuration| {
        let engine = registry::find(&today.engine).map_err(Failure::usage)?;
        Ok::<_, Failure>(Task::new(engine, name, today.clone(), tries, tier))
    };
    let plain = |engine: &'static dyn Engine| {
        let id = engine.info().id;
        Task::new(engine, id, Configuration::new(id), tries, tier)
    };
    let default = words.is_empty() && own.is_empty();
    let groups = if default { vec!["embedded".to_owned()] } else { words.to_vec() };
    let mut all = Vec::new();
    for word in &groups {
        if let Some(today) = own.get(word) {
            all.push(configured(word, today)?);
            continue;
        }
        let is_one_engine = registry::find(word).is_ok();
        let named = registry::select(word).map_err(Failure::usage)?;
        // A group selects only engines with candidates.
        let is_meant = |task: &Task| {
            let here = matches!(task.engine.availability(), Availability::Ready { .. })
                && matches!(task.engine.tier(tier), Tier::Offered { .. });
            let has = here && !task.candidates.is_empty();
            is_one_engine || (has && task.engine.info().kind != Kind::Reference)
        };
        all.extend(named.into_iter().map(plain).filter(is_meant));
    }
    for (name, today) in own.iter().filter(|(name, _)| !words.contains(name)) {
        all.push(configured(name, today)?);
    }
    // An engine may be named, and be in a group.
    let mut known = HashSet::new();
    all.retain(|task| known.insert(task.subject.name.clone()));
    for (id, _) in tries {
        if all.iter().all(|task| task.engine.info().id != id) {
            return Err(usage!("--try {id}:…: name {id} among the engines"));
        }
    }
    for task in &all {
        check_tunable(task, tier)?;
    }
    Ok(all)
}

fn check_tunable(task: &Task, tier: Durability) -> Result<(), Failure> {
    let id = task.engine.info().id;
    if let Availability::Missing { why, remedy } = task.engine.availability() {
        return Err(usage!("{id} cannot run here: {why}; {remedy}"));
    }
    if task.candidates.is_empty() {
        let has = |engine: &&&dyn Engine| !engine.settings().candidates.is_empty();
        let others = registry::ENGINES.iter().filter(has).map(|engine| engine.info().id);
        return Err(usage!(
            "{id} has nothing to tune except its cache; engines that have: {}; or name settings yourself: \
             --try {id}:SETTING=VALUE",
            others.collect::<Vec<_>>().join(", ")
        ));
    }
    if let Tier::Unsupported { why } = task.engine.tier(tier) {
        return Err(usage!("{id} has no tier {tier}: {why}"));
    }
    Ok(())
}
