use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::result::{Cell, EngineFacts, PhaseResult, ResultFile, Run, Trial};
use embermark_model::{Configuration, CostAnomaly, Explained, Scale, Status};

use super::*;
use crate::note::Note;
use crate::{load, summary};

mod limits;

/// Makes a file of `sensors` in the tier `process`, without cells.
fn empty() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.cells.clear();
    file.manifest.engines.clear();
    file.manifest.datasets.clear();
    file
}

/// Times of one engine in one phase by scale: rows, ns per operation, operations.
type Times<'a> = &'a [(u64, u64, u64)];

/// Adds the phase to the engine's cell at each scale of `times`, with one trial per entry of
/// `percents` that takes this percentage of the time.
fn add(file: &mut ResultFile, engine: &str, phase: &str, times: Times<'_>, percents: &[u64]) {
    let template = load(Path::new("tests/fixtures/schema-1.json")).unwrap().cells.swap_remove(0);
    for (rows, ns, ops) in times {
        let mut cell = Cell { status: Status::Ok, reason: None, ..template.clone() };
        cell.id.engine = engine.into();
        cell.id.variant = "single".into();
        cell.id.scale = Scale::Rows(*rows);
        (cell.effective_durability, cell.reference) = (None, false);
        let (trial, part) = (cell.trials[0].clone(), cell.trials[0].phases[0].clone());
        cell.trials = (0..percents.len() as u32)
            .map(|index| Trial { index, phases: Vec::new(), ..trial.clone() })
            .collect();
        let known = file.cells.iter().position(|other| other.id == cell.id);
        let place = known.unwrap_or_else(|| {
            file.cells.push(cell);
            file.cells.len() - 1
        });
        for (trial, percent) in file.cells[place].trials.iter_mut().zip(percents) {
            let elapsed_ns = ns * ops * percent / 100;
            trial.phases.push(PhaseResult {
                phase: phase.to_owned(),
                ops: *ops,
                status: Status::Ok,
                latency: None,
                runs: vec![Run { elapsed_ns, ops: *ops, ..Run::default() }],
                ..part.clone()
            });
        }
    }
}

/// Three trials that differ by 2 %.
const NEAR: &[u64] = &[98, 100, 102];
/// Three trials that differ so much that either order with a similar time is possible.
const WIDE: &[u64] = &[60, 100, 140];

/// Sets an engine's kind and data model.
fn family(file: &mut ResultFile, engine: &str, kind: &str, data_model: &str) {
    let own = str::to_owned;
    let (name, licence) = (own(engine), own("MIT"));
    let (kind, data_model, configuration) = (own(kind), own(data_model), None);
    let engine_library = None;
    let facts = EngineFacts { name, kind, data_model, licence, configuration, engine_library };
    file.manifest.engines.insert(own(engine), facts);
}

fn scaled<T>(file: &ResultFile, explained: Explanations<'_>, see: impl Fn(&Scaling<'_>) -> T) -> T {
    see(&analyze(&summary::compare(file, &[]), explained))
}

fn turns(file: &ResultFile) -> Vec<String> {
    scaled(file, &[], |scaling| scaling.turns.iter().map(|turn| turn.says.clone()).collect())
}

fn surprises(file: &ResultFile, explained: Explanations<'_>) -> Vec<String> {
    let says = |one: &Surprise<'_>| format!("{} {} {}", one.engine, one.scale, one.describe());
    scaled(file, explained, |scaling| scaling.surprises.iter().map(says).collect())
}

#[test]
fn an_exponent_is_the_slope_of_least_squares_in_logarithms() {
    let near = |points: &[(f64, f64)], expected: f64| {
        let exponent = growth::exponent(points).unwrap();
        assert!((exponent - expected).abs() < 1e-12, "{exponent} for {expected}");
    };
    near(&[(1e3, 7.0), (1e4, 7.0)], 0.0);
    near(&[(1e3, 5.0), (1e4, 50.0), (1e5, 500.0)], 1.0);
    near(&[(1e3, 100.0), (1e5, 10.0)], -0.5);
    // Computed by hand: logs (0, 0), (1, 0), (2, 2) have the slope 1.
    near(&[(1.0, 1.0), (10.0, 1.0), (100.0, 100.0)], 1.0);
    assert_eq!(growth::exponent(&[(1e3, 5.0)]), None);
    assert_eq!(growth::exponent(&[(1e3, 5.0), (1e3, 6.0)]), None, "no scale to be steep over");
}

#[test]
fn growth_is_of_one_operation_and_says_where_it_bends() {
    let mut file = empty();
    // One read per row: 100 ns at every scale. A query as a whole: first flat, then steep.
    add(&mut file, "tree", "read", &[(1_000, 100, 1_000), (10_000, 100, 10_000)], NEAR);
    let question = [(1_000, 500, 1), (10_000, 500, 1), (100_000, 5_000, 1)];
    add(&mut file, "tree", "avg_sensor", &question, NEAR);
    scaled(&file, &[], |scaling| {
        let growth = |phase: &str| {
            let of = scaling.phases.iter().find(|one| one.series.phase == phase).unwrap();
            of.growth[0].clone()
        };
        assert!(growth("read").exponent.abs() < 1e-9 && !growth("read").bends);
        let bent = growth("avg_sensor");
        assert!((bent.exponent - 0.5).abs() < 1e-9 && bent.bends, "{bent:?}");
        let steps: Vec<f64> = bent.steps.iter().map(|step| step.exponent.round()).collect();
        assert_eq!(steps, [0.0, 1.0]);
    });
}

#[test]
fn a_scale_whose_cell_failed_has_no_part_in_growth_and_order() {
    let mut file = empty();
    let times = [(1_000, 100, 10), (10_000, 900_000, 10), (100_000, 100, 10)];
    add(&mut file, "a", "read", &times, NEAR);
    add(&mut file, "b", "read", &[(1_000, 200, 10), (10_000, 200, 10), (100_000, 50, 10)], NEAR);
    file.cells[1].status = Status::Failed;
    scaled(&file, &[], |scaling| {
        let one = &scaling.phases[0];
        assert!(one.growth[0].exponent.abs() < 1e-9, "{:?}", one.growth[0]);
        assert_eq!(one.growth[0].steps.len(), 1, "from the first scale to the last");
        assert_eq!(one.leading, "a up to 1k, b from 10k");
        assert_eq!(one.turns[0].open, [Scale::Rows(10_000)]);
    });
    assert_eq!(turns(&file), ["b overtakes a between 1k and 100k rows (read)"]);
}

#[test]
fn an_order_that_is_significant_on_both_sides_turns_between_two_scales() {
    let mut file = empty();
    add(
        &mut file,
        "row",
        "avg_sensor",
        &[(1_000, 10, 1), (10_000, 100, 1), (100_000, 1_000, 1)],
        NEAR,
    );
    add(
        &mut file,
        "column",
        "avg_sensor",
        &[(1_000, 50, 1), (10_000, 60, 1), (100_000, 80, 1)],
        NEAR,
    );
    assert_eq!(turns(&file), ["column overtakes row between 1k and 10k rows (avg_sensor)"]);
    scaled(&file, &[], |scaling| {
        let one = &scaling.phases[0];
        assert_eq!(one.leading, "row up to 1k, column from 10k");
        assert!(one.turns[0].leads);
        assert!((one.turns[0].ratios[0] - 5.0).abs() < 0.1, "{:?}", one.turns[0]);
    });
}

#[test]
fn an_order_that_may_be_chance_turns_nowhere() {
    let mut file = empty();
    add(&mut file, "a", "read", &[(1_000, 1_000, 10), (10_000, 1_200, 10)], WIDE);
    add(&mut file, "b", "read", &[(1_000, 1_200, 10), (10_000, 1_000, 10)], WIDE);
    assert_eq!(turns(&file), [""; 0]);
    scaled(&file, &[], |scaling| {
        assert_eq!(scaling.phases[0].leading, "a ≈ b at every scale");
        let notes: Vec<Note> = grids(scaling).into_iter().flat_map(|grid| grid.notes).collect();
        assert!(notes.iter().any(|note| note.about == "≈"), "{notes:?}");
        assert!(notes.iter().any(|note| note.says.starts_with("nowhere among")), "{notes:?}");
    });
}

#[test]
fn a_scale_without_an_order_lies_between_the_two_that_have_one() {
    let mut file = empty();
    add(&mut file, "a", "read", &[(1_000, 100, 10), (10_000, 100, 10), (100_000, 300, 10)], NEAR);
    add(&mut file, "b", "read", &[(1_000, 200, 10), (10_000, 101, 10), (100_000, 100, 10)], NEAR);
    assert_eq!(turns(&file), ["b overtakes a between 1k and 100k rows (read)"]);
    scaled(&file, &[], |scaling| {
        assert_eq!(scaling.phases[0].leading, "a up to 1k, a ≈ b at 10k, b from 100k");
    });
}

#[test]
fn fewer_than_three_trials_show_no_order_and_say_so() {
    let mut file = empty();
    add(&mut file, "a", "read", &[(1_000, 100, 10), (10_000, 300, 10)], &[100]);
    add(&mut file, "b", "read", &[(1_000, 200, 10), (10_000, 100, 10)], &[100]);
    assert_eq!(turns(&file), [""; 0]);
    scaled(&file, &[], |scaling| {
        assert!(scaling.phases[0].few_trials);
        let said = grids(scaling).into_iter().flat_map(|grid| grid.notes).map(|note| note.says);
        let said: Vec<String> = said.collect();
        assert!(said.iter().any(|says| says.contains("it needs 3 trials")), "{said:?}");
    });
}

#[test]
fn engines_that_lead_nowhere_have_no_turns_but_inside_their_family() {
    let mut file = empty();
    add(&mut file, "tree", "read", &[(1_000, 10, 10), (10_000, 10, 10)], NEAR);
    add(&mut file, "a", "read", &[(1_000, 100, 10), (10_000, 300, 10)], NEAR);
    add(&mut file, "b", "read", &[(1_000, 200, 10), (10_000, 100, 10)], NEAR);
    assert_eq!(turns(&file), [""; 0], "nobody knows their family");
    for engine in ["a", "b"] {
        family(&mut file, engine, "embedded", "SQL");
    }
    family(&mut file, "tree", "embedded", "key-value");
    assert_eq!(turns(&file), ["b overtakes a between 1k and 10k rows (read)"]);
    scaled(&file, &[], |scaling| assert!(!scaling.turns[0].leads));
    file.cells.iter_mut().filter(|cell| cell.id.engine == "b").for_each(|cell| {
        cell.reference = true;
    });
    assert_eq!(turns(&file), [""; 0], "a reference competes with nobody");
}

#[test]
fn the_same_turn_of_several_phases_is_told_once() {
    let mut file = empty();
    for phase in ["outages", "anomalies", "read"] {
        let far = if phase == "read" { 10 } else { 500 };
        add(&mut file, "row", phase, &[(1_000, 10, 1), (10_000, far, 1)], NEAR);
        add(&mut file, "column", phase, &[(1_000, 50, 1), (10_000, 60, 1)], NEAR);
    }
    assert_eq!(turns(&file), ["column overtakes row between 1k and 10k rows (outages, anomalies)"]);
}

#[test]
fn more_than_ten_times_the_time_for_a_row_over_a_decade_is_a_surprise() {
    let mut file = empty();
    // Reads, one operation per row: eleven times as slow over a decade.
    add(&mut file, "a", "read", &[(1_000, 100, 1_000), (10_000, 1_100, 10_000)], NEAR);
    let says = "a 10k 11.0x the time for a row, 1k to 10k: unexplained: look before you believe it";
    assert_eq!(surprises(&file, &[]), [says]);
    // A query over all rows may take ten times as long, and at most a hundred times.
    let mut file = empty();
    add(&mut file, "a", "outages", &[(1_000, 1_000, 1), (10_000, 99_000, 1)], NEAR);
    assert_eq!(surprises(&file, &[]), [""; 0]);
    file.cells.clear();
    add(&mut file, "a", "outages", &[(1_000, 1_000, 1), (10_000, 110_000, 1)], NEAR);
    assert_eq!(surprises(&file, &[]).len(), 1);
}

#[test]
fn growth_is_held_against_the_decades_between_two_scales() {
    let mut file = empty();
    // Ninety times over two decades: less than ten times over each.
    add(&mut file, "a", "read", &[(1_000, 100, 10), (100_000, 9_000, 1_000)], NEAR);
    assert_eq!(surprises(&file, &[]), [""; 0]);
    file.cells.clear();
    add(&mut file, "a", "read", &[(1_000, 100, 10), (100_000, 11_000, 1_000)], NEAR);
    assert_eq!(surprises(&file, &[]).len(), 1);
    // Less than a decade is not judged.
    file.cells.clear();
    add(&mut file, "a", "read", &[(1_000, 100, 10), (2_000, 5_000, 20)], NEAR);
    assert_eq!(surprises(&file, &[]), [""; 0]);
}

#[test]
fn more_than_twenty_times_the_next_engine_of_the_family_is_a_surprise() {
    let mut file = empty();
    let engines = [("a", 10), ("b", 190), ("c", 4_000), ("d", 5_000), ("server", 9_000)];
    for (engine, ns) in engines {
        add(&mut file, engine, "read", &[(1_000, ns, 10)], NEAR);
        let kind = if engine == "server" { "server" } else { "embedded" };
        family(&mut file, engine, kind, "key-value");
    }
    add(&mut file, "memory", "read", &[(1_000, 1, 10)], NEAR);
    if let Some(memory) = file.cells.last_mut() {
        memory.reference = true;
    }
    // A slow engine before it does not excuse an engine: both are compared with `b`.
    let open = "unexplained: look before you believe it";
    let expected = [
        format!("c 1k 21.1x the next embedded key-value engine (b): {open}"),
        format!("d 1k 26.3x the next embedded key-value engine (b): {open}"),
    ];
    assert_eq!(surprises(&file, &[]), expected);
    // A client in another language is compared with those of its language.
    let client = Some("python".parse().unwrap());
    let settings = BTreeMap::new();
    let own = Configuration { engine: "c".to_owned(), settings, library: None, client };
    file.manifest.engines.get_mut("c").unwrap().configuration = Some(own);
    assert_eq!(surprises(&file, &[]), expected[1..]);
}

#[test]
fn a_surprise_that_an_adapter_explains_names_the_section() {
    let mut file = empty();
    for (engine, ns) in [("row", 10), ("column", 1_000)] {
        for phase in ["read", "outages"] {
            add(&mut file, engine, phase, &[(1_000, ns, 10)], NEAR);
        }
        family(&mut file, engine, "embedded", "SQL");
    }
    let told = [Explained {
        how: CostAnomaly::Lag,
        counts: &[],
        phases: &["read"],
        why: "a column store",
        evidence: "a profile",
        section: "docs/engines/column.md#column",
    }];
    let said = surprises(&file, &[("column", &told)]);
    assert_eq!(said.len(), 2);
    assert!(
        said[0]
            .ends_with("(row): a column store; shown by a profile (docs/engines/column.md#column)"),
        "{said:?}"
    );
    assert!(said[1].ends_with("unexplained: look before you believe it"), "{said:?}");
    let notes = scaled(&file, &[("column", &told)], notes);
    assert!(notes[0].says.contains("unexplained"), "what nobody looked at comes first: {notes:?}");
    let growth = [Explained { how: CostAnomaly::Growth, ..told[0] }];
    assert!(surprises(&file, &[("column", &growth)]).iter().all(|says| says.contains("unexpl")));
}

#[test]
fn a_surprise_is_marked_in_its_table_and_told_below_it() {
    let mut file = empty();
    add(&mut file, "a", "read", &[(1_000, 100, 10), (10_000, 2_000, 100)], NEAR);
    add(&mut file, "b", "read", &[(1_000, 100, 10), (10_000, 100, 100)], NEAR);
    let options = crate::Options { width: 120, ..Default::default() };
    let shown = crate::render(&file, crate::Format::Table, &options).unwrap();
    assert!(shown.contains("200 µs? 20.0x"), "{shown}");
    assert!(shown.contains("Surprises\n  a  sensors 10k process, read: 20.0x the time"), "{shown}");
    let screen = crate::screen(&file, &options, &crate::Files::default());
    assert!(screen.contains("surprise  unexplained, see the tables: a read"), "{screen}");
}

#[test]
fn tables_name_the_conditions_of_the_run() {
    let mut file = empty();
    add(&mut file, "a", "read", &[(1_000, 100, 10), (10_000, 100, 10)], NEAR);
    (file.plan.cold, file.plan.clients) = (true, 4);
    let title = scaled(&file, &[], |scaling| grids(scaling)[0].grid.title.clone());
    assert_eq!(title, "sensors · durability process · 4 clients · cold reads · growth with rows");
}
