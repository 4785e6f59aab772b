//! Numbers of rows of a plan.

use std::collections::BTreeMap;
use std::iter;
use std::path::Path;

use embermark_model::Scale;
use embermark_workloads::Workload;

use crate::error::Failure;

/// Names of workloads, and the scales of some.
pub(super) type WithScales = (Vec<String>, Vec<(String, Scale)>);

/// Splits the scales from the names of workloads: `sensors:10k`. `all` gives no name, and without a
/// name every workload runs.
pub(super) fn with_scales(given: &[String]) -> Result<WithScales, Failure> {
    if given == ["all"] {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut names, mut scales) = (Vec::new(), Vec::new());
    for text in given {
        let parts = text.rsplit_once(':').filter(|(name, _)| !name.is_empty());
        match parts.map(|(name, scale)| (name, scale.parse::<Scale>())) {
            Some((name, Ok(scale))) => {
                names.push(name.to_owned());
                scales.push((name.to_owned(), scale));
            }
            // Other names may have a colon of their own.
            Some((name, Err(why))) if is_toml(name) || !name.contains(['/', '.']) => {
                return Err(usage!("{text}: {why}"));
            }
            _ => names.push(text.clone()),
        }
    }
    Ok((names, scales))
}

/// Checks that the scales of all workloads have an effect: some workload must have none of its own.
pub(super) fn check_effect(option: &str, (names, own): &WithScales) -> Result<(), Failure> {
    let has_own = |name: &String| own.iter().any(|(of, _)| of == name);
    match own.first() {
        Some((name, scale)) if names.iter().all(has_own) => Err(usage!(
            "{option} has no effect, because each workload has its own number of rows, such as {name}:{scale}: \
             leave out {option}, or name a workload without rows"
        )),
        _ => Ok(()),
    }
}

/// Whether a name is that of a workload file.
pub(super) fn is_toml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Returns the scales by the ids of workloads. A file has its id inside.
pub(super) fn scales_by_id(
    given: &[(String, Scale)],
    names: &[String],
    workloads: &[&dyn Workload],
) -> BTreeMap<String, Vec<Scale>> {
    let mut all: BTreeMap<String, Vec<Scale>> = BTreeMap::new();
    for (name, scale) in given {
        let id = match workloads.iter().any(|workload| workload.id() == name) {
            true => Some(name.as_str()),
            // No duplicates, so the names have the order of the workloads.
            false => names.iter().position(|other| other == name).map(|at| workloads[at].id()),
        };
        if let Some(id) = id {
            all.entry(id.to_owned()).or_default().push(*scale);
        }
    }
    all
}

/// Returns the given scale, or 1k, then ten times as many rows and so on below `until`, and `until`
/// itself.
pub(super) fn decades(given: &[Scale], until: &str) -> Result<Vec<Scale>, Failure> {
    let refused = |why: &str| Err(usage!("--scales-until {until}: {why}"));
    let first = match given {
        [] => 1_000,
        [Scale::Rows(first)] => *first,
        [Scale::Full] => return refused("it starts at a number of rows: give one with --scale"),
        _ => return refused("it starts at one scale: give one with --scale"),
    };
    let Scale::Rows(last) = until.parse().map_err(Failure::usage)? else {
        return refused("it is not a number of rows");
    };
    if last < first {
        return refused(&format!("it starts at {}: give more", Scale::Rows(first)));
    }
    let steps = iter::successors(Some(first), |rows| rows.checked_mul(10));
    Ok(steps.take_while(|rows| *rows < last).chain([last]).map(Scale::Rows).collect())
}
