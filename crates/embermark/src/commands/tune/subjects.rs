//! Selects the engines to tune, each with its candidates.

use std::collections::{BTreeMap, HashSet};

use embermark_engines::{Availability, Candidate, Engine, Kind, Tier, registry};
use embermark_model::tuning_result::{Outcome, Set, Tried};
use embermark_model::{Configuration, Configurations, Durability};
use embermark_tune::Subject;

use crate::error::Failure;
use crate::plan::parse_configuration;

/// One engine to tune.
pub(super) struct Task {
    /// The engine with today's settings.
    pub subject: Subject,
    /// Candidate settings.
    pub candidates: Vec<Set>,
    /// Candidates that do not keep the tier according to the manual. They are only shown.
    pub weaker: Vec<Tried>,
}

impl Task {
    fn new(
        engine: &dyn Engine,
        subject: Subject,
        tries: &[(String, Set)],
        tier: Durability,
    ) -> Self {
        let own = tries.iter().filter(|(id, _)| id == engine.info().id).map(|(_, set)| set.clone());
        let own: Vec<Set> = own.collect();
        let known = engine.settings().candidates;
        let (strong, weak): (Vec<&Candidate>, Vec<&Candidate>) =
            known.iter().partition(|one| one.keeps >= tier);
        let weak = weak.into_iter().filter(|one| !own.contains(&candidate_set(one)));
        Self {
            subject,
            weaker: weak.map(weaker_candidate).collect(),
            candidates: strong.into_iter().map(candidate_set).chain(own).collect(),
        }
    }
}

/// Returns the settings of a candidate.
pub(super) fn candidate_set(candidate: &Candidate) -> Set {
    candidate.set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn weaker_candidate(candidate: &Candidate) -> Tried {
    let outcome = Outcome::Weaker {
        keeps: candidate.keeps,
        trades: candidate.trades.to_owned(),
        manual: candidate.manual.to_owned(),
    };
    Tried { set: candidate_set(candidate), trials: 0, gain: None, outcome }
}

/// Parses candidates of the command line, by engine.
pub(super) fn parse_tries(tries: &[String]) -> Result<Vec<(String, Set)>, Failure> {
    let of = |text: &String| {
        let named = format!("try={text}");
        let (_, own) = parse_configuration(&named)
            .map_err(|_| Failure::usage(format!("--try {text}: write ENGINE:SETTING=VALUE,…")))?;
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
    let find = |id: &str| registry::find(id).map_err(Failure::usage);
    let configured = |name: &String, today: &Configuration| {
        let engine = find(&today.engine)?;
        let subject = Subject { name: name.clone(), today: today.clone() };
        Ok::<_, Failure>((engine, Task::new(engine, subject, tries, tier)))
    };
    let plain = |engine: &'static dyn Engine| {
        let id = engine.info().id.to_owned();
        let today = Configuration {
            engine: id.clone(),
            settings: BTreeMap::new(),
            library: None,
            client: None,
        };
        (engine, Task::new(engine, Subject { name: id, today }, tries, tier))
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
        let is_meant = |(engine, task): &(&'static dyn Engine, Task)| {
            let here = matches!(engine.availability(), Availability::Ready { .. })
                && matches!(engine.tier(tier), Tier::Offered { .. });
            let has = here && !task.candidates.is_empty();
            is_one_engine || (has && engine.info().kind != Kind::Reference)
        };
        all.extend(named.into_iter().map(plain).filter(is_meant));
    }
    for (name, today) in own.iter().filter(|(name, _)| !words.contains(name)) {
        all.push(configured(name, today)?);
    }
    // An engine may be named, and be in a group.
    let mut known = HashSet::new();
    all.retain(|(_, task)| known.insert(task.subject.name.clone()));
    for (id, _) in tries {
        if all.iter().all(|(engine, _)| engine.info().id != id) {
            return Err(Failure::usage(format!("--try {id}:…: name {id} among the engines")));
        }
    }
    for (engine, task) in &all {
        check_tunable(*engine, task, tier)?;
    }
    Ok(all.into_iter().map(|(_, task)| task).collect())
}

fn check_tunable(engine: &dyn Engine, task: &Task, tier: Durability) -> Result<(), Failure> {
    let id = engine.info().id;
    if let Availability::Missing { why, remedy } = engine.availability() {
        return Err(Failure::usage(format!("{id} cannot run here: {why}; {remedy}")));
    }
    if task.candidates.is_empty() {
        let has = |engine: &&&dyn Engine| !engine.settings().candidates.is_empty();
        let others = registry::ENGINES.iter().filter(has).map(|engine| engine.info().id);
        return Err(Failure::usage(format!(
            "{id} has nothing to tune except its cache; engines that have: {}; or name settings yourself: \
             --try {id}:SETTING=VALUE",
            others.collect::<Vec<_>>().join(", ")
        )));
    }
    if let Tier::Unsupported { why } = engine.tier(tier) {
        return Err(Failure::usage(format!("{id} has no tier {tier}: {why}")));
    }
    Ok(())
}
