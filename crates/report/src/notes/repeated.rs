//! Runs that ended at once: how they were repeated, and which figures cover little time.

use embermark_model::result::{Cell, PhaseResult, Repeated, ResultFile, Run};
use embermark_model::{CellId, Status};

use crate::note::{Note, note};
use crate::text;

/// Largest number of places that are named.
const MOST: usize = 12;

/// Lists what was repeated, what still is shorter than a millisecond, and what did not become
/// steady.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let phases = |applies: fn(&Run, &Repeated) -> bool| {
        let mut places = Vec::new();
        for cell in file.cells.iter().filter(|cell| cell.status != Status::NotRun) {
            let applies = |part: &&PhaseResult| {
                let mut runs = part.runs.iter();
                runs.any(|run| run.repeated.is_some_and(|repeated| applies(run, &repeated)))
            };
            let parts = cell.trials.iter().flat_map(|trial| &trial.phases).filter(applies);
            places.extend(text::unique(parts.map(|part| place(cell, part))));
        }
        text::unique(places)
    };
    let repeated = phases(|run, _| !run.discarded);
    if repeated.is_empty() {
        return Vec::new();
    }
    let says = format!(
        "a run of less than 1 ms was made again until all times together lasted 1 ms, for 5 ms at most: \
         its time is the mean ({})",
        text::first(&repeated, MOST)
    );
    let mut notes = vec![note("repeated", says)];
    let short = phases(|run, repeated| !run.discarded && repeated.is_short());
    if !short.is_empty() {
        let says = format!("timed for less than 1 ms all the same: {}", text::first(&short, MOST));
        notes.push(note("short", says));
    }
    let restless = phases(|run, repeated| {
        run.discarded && !repeated.steady.is_some_and(|figure| figure.steady)
    });
    if !restless.is_empty() {
        let says = format!("not steady after 20 ms of warm-up: {}", text::first(&restless, MOST));
        notes.push(note("warm-up", says));
    }
    notes
}

/// Names a place: `sqlite sensors 10k last_readings`.
fn place(cell: &Cell, part: &PhaseResult) -> String {
    let CellId { engine, workload, .. } = &cell.id;
    text::plain(&format!("{engine} {workload} {} {}", cell.id.extent(), part.phase))
}

#[cfg(test)]
mod tests {
    use embermark_model::result::SteadyFigure;

    use super::*;
    use crate::summary::tests::{cell, file, phase, run, trial};

    /// Makes a phase with a warm-up run, steady or not, and a counted run whose repetitions took
    /// `total_ns`.
    fn repeated(name: &str, is_steady: bool, total_ns: u64) -> PhaseResult {
        let of = |total_ns, steady| Some(Repeated { times: 9, total_ns, steady });
        let figure = SteadyFigure { steady: is_steady, ..SteadyFigure::default() };
        let warm_up = Run { discarded: true, repeated: of(1, Some(figure)), ..run(1, 1) };
        phase(name, vec![warm_up, Run { repeated: of(total_ns, None), ..run(1, 1) }])
    }

    #[test]
    fn what_stayed_short_and_what_was_not_steady_is_named() {
        let fine = repeated("fine", true, 1_000_000);
        let plain = phase("plain", vec![run(5, 1)]);
        let phases = vec![fine.clone(), repeated("hasty", true, 999_999), plain];
        let rough = repeated("rough", false, 2_000_000);
        let file = file(vec![
            cell("a", "single", vec![trial(phases.clone()), trial(phases)]),
            cell("b", "single", vec![trial(vec![rough])]),
        ]);
        let says: Vec<(String, String)> =
            notes(&file).into_iter().map(|note| (note.about, note.says)).collect();
        let [(_, all), (short, hasty), (warm_up, restless)] = &says[..] else { panic!("{says:?}") };
        assert!(all.ends_with("(a w 10 fine, a w 10 hasty, b w 10 rough)"), "{all}");
        assert!(short == "short" && hasty.ends_with("all the same: a w 10 hasty"), "{hasty}");
        assert!(warm_up == "warm-up" && restless.ends_with("warm-up: b w 10 rough"), "{restless}");
    }

    #[test]
    fn of_many_places_the_first_are_named_and_nothing_is_said_where_nothing_was_repeated() {
        let phases = (0..20).map(|number| repeated(&format!("p{number}"), true, 1_000_000));
        let many = file(vec![cell("a", "single", vec![trial(phases.collect())])]);
        assert!(notes(&many)[0].says.ends_with("a w 10 p11 and 8 more)"), "{:?}", notes(&many));
        let none = file(vec![cell("a", "single", vec![trial(vec![phase("x", vec![run(1, 1)])])])]);
        assert_eq!(notes(&none), Vec::new());
    }
}
