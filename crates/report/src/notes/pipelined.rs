//! Phases whose changes were sent without waiting for the answer to each.

use std::collections::BTreeMap;

use embermark_model::result::ResultFile;

use crate::note::{Note, names, note};
use crate::text;

/// Returns one line for the engines with the same phases: `mariadb, postgres: load, update: the
/// changes of a transaction were sent without waiting for the answer to each, so that none has a
/// latency`.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut by_engine: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (cell, phase) in super::phases(file).filter(|(_, phase)| phase.pipelined) {
        by_engine.entry(&cell.id.engine).or_default().push(text::plain(&phase.phase));
    }
    let mut by_phases: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (engine, phases) in by_engine {
        by_phases.entry(names(phases)).or_default().push(text::plain(engine));
    }
    let line = |(phases, engines): (String, Vec<String>)| {
        let says = "the changes of a transaction were sent without waiting for the answer to each, so that none has a \
                    latency";
        note("", format!("{}: {phases}: {says}", names(engines)))
    };
    by_phases.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use embermark_model::result::Cell;

    use super::*;
    use crate::summary::tests::{cell, file, phase, run, trial};

    fn of(engine: &str, phases: &[(&str, bool)]) -> Cell {
        let phases = phases.iter().map(|(name, pipelined)| {
            let mut phase = phase(name, vec![run(1, 1)]);
            phase.pipelined = *pipelined;
            phase
        });
        cell(engine, "single", vec![trial(phases.collect())])
    }

    #[test]
    fn engines_are_named_with_the_phases_whose_changes_they_got_together() {
        let both = [("load", true), ("read", false), ("update", true)];
        let said = notes(&file(vec![
            of("postgres", &both),
            of("mariadb", &both),
            of("timescaledb", &both[..1]),
            of("sqlite", &[("load", false)]),
        ]));
        let said: Vec<&str> =
            said.iter().filter_map(|note| note.says.split(": the").next()).collect();
        assert_eq!(said, ["timescaledb: load", "mariadb, postgres: load, update"]);
    }
}
