//! Interprets weights together: which work a resource is weighed for.

use super::Weight;

/// Criteria of time except `ingest`.
const TIMES: [&str; 5] = ["load", "point", "update", "analytics", "mixed"];

/// Those of them that write.
const WRITES: [&str; 3] = ["load", "update", "mixed"];

/// Resources with a criterion for `ingest` only, and the criteria that must not be weighed for it
/// to apply.
const OF_INGEST: [(&str, &str, &[&str]); 4] = [
    ("wear", "ingest-wear", &WRITES),
    ("memory", "ingest-memory", &TIMES),
    ("cpu", "ingest-cpu", &TIMES),
    ("energy", "ingest-energy", &TIMES),
];

/// Replaces `wear`, `memory`, `cpu` and `energy` with their criteria for one commit per row, if
/// that is the work that counts. `wear` is replaced if no other writing is weighed with `ingest`,
/// and the others if no other time is.
pub(super) fn intended_weights(weights: &[Weight]) -> Vec<Weight> {
    let weighs = |id: &str| weights.iter().any(|weight| weight.criterion == id);
    let criterion = |id: &str| {
        let of = OF_INGEST.iter().find(|(whole, _, others)| {
            *whole == id && weighs("ingest") && !others.iter().any(|other| weighs(other))
        });
        of.map_or(id, |(_, of_ingest, _)| *of_ingest).to_owned()
    };
    let mut intended: Vec<Weight> = Vec::new();
    for Weight { criterion: id, weight } in weights {
        let criterion = criterion(id);
        match intended.iter_mut().find(|known| known.criterion == criterion) {
            Some(known) => known.weight += weight,
            None => intended.push(Weight { criterion, weight: *weight }),
        }
    }
    intended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(of: &[&str]) -> Vec<String> {
        let weights: Vec<Weight> =
            of.iter().map(|id| Weight { criterion: (*id).to_owned(), weight: 1.0 }).collect();
        intended_weights(&weights).into_iter().map(|weight| weight.criterion).collect()
    }

    #[test]
    fn resources_are_of_ingest_where_nothing_else_counts_and_of_everything_otherwise() {
        assert_eq!(
            ids(&["ingest", "wear", "memory", "disk"]),
            ["ingest", "ingest-wear", "ingest-memory", "disk"]
        );
        // Queries write nothing, but they use memory.
        assert_eq!(ids(&["ingest", "analytics", "wear", "cpu"])[2..], ["ingest-wear", "cpu"]);
        assert_eq!(ids(&["ingest", "load", "wear"])[2..], ["wear"]);
        assert_eq!(ids(&["wear", "memory"]), ["wear", "memory"]);
        let both = intended_weights(
            &[("ingest", 1.0), ("wear", 2.0), ("ingest-wear", 3.0)]
                .map(|(id, weight)| Weight { criterion: id.to_owned(), weight }),
        );
        assert_eq!((both.len(), both[1].weight), (2, 5.0));
    }
}
