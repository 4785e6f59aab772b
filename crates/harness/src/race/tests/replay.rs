//! Replays recorded full plans through the race. Does it find the order of the full plan, in what
//! share of its time, and does it call an engine different from itself? A recording is the result
//! of a full plan, reduced by [`make_small`]. `crates/harness/recordings/README.md` describes how.

use std::fs;
use std::path::{Path, PathBuf};

use embermark_meter::statistics::{includes_one, ratio_interval};
use embermark_model::result::{PhaseResult, ResultFile};
use embermark_model::{CellId, Durability, Scale};
use embermark_skips::sampled;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use crate::journal::EndedTrial;
use crate::race::*;

/// A recorded full plan.
#[derive(Serialize, Deserialize)]
struct Recording {
    /// How and where it was made.
    about: String,
    /// The cells. Competing ones are neighbours.
    cells: Vec<Recorded>,
}

/// A recorded cell.
#[derive(Clone, Serialize, Deserialize)]
struct Recorded {
    cell: String,
    group: usize,
    trials: Vec<RecordedTrial>,
}

/// A recorded trial.
#[derive(Clone, Serialize, Deserialize)]
struct RecordedTrial {
    seconds: f64,
    /// Time of an operation in ns, by phase.
    phases: BTreeMap<String, f64>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings")
}

/// Returns one of the recordings, as [`sampled`], or all.
fn recordings() -> Vec<(String, Recording)> {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let read = |path: PathBuf| {
        let text = fs::read(&path).unwrap();
        (
            path.file_stem().unwrap().to_string_lossy().into_owned(),
            serde_json::from_slice(&text).unwrap(),
        )
    };
    // In the same order on every file system, because the random choice depends on it.
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    sampled(files, 1).into_iter().map(read).collect()
}

/// Makes a recording of a full plan's result, with the times of operations and trials:
/// `EMBERMARK_RECORD=RESULT.json`.
#[test]
#[ignore = "makes a recording of the result that EMBERMARK_RECORD names"]
fn make_small() {
    let Some(path) = std::env::var_os("EMBERMARK_RECORD").map(PathBuf::from) else { return };
    let file: ResultFile = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let mut groups: Vec<CellId> = Vec::new();
    let mut cells = Vec::new();
    for cell in file.cells.iter().filter(|cell| cell.status.has_figures() && !cell.reference) {
        let id = CellId { engine: String::new(), ..cell.id.clone() };
        let group = groups.iter().position(|known| *known == id).unwrap_or_else(|| {
            groups.push(id);
            groups.len() - 1
        });
        let trial = |trial: &Trial| RecordedTrial {
            seconds: (trial.wall_ns as f64 / 1e6).round() / 1e3,
            phases: trial
                .phases
                .iter()
                .filter_map(|phase| {
                    Some((phase.phase.clone(), phase.mean_time()?.round().max(1.0)))
                })
                .collect(),
        };
        let trials = cell.trials.iter().map(trial).collect();
        cells.push(Recorded { cell: cell.id.to_string(), group, trials });
    }
    let machine = &file.manifest.machine;
    let about = format!(
        "{} trials of {} runs, {}, {} CPUs",
        file.plan.trials,
        file.plan.runs,
        machine.cpu.as_deref().unwrap_or("unknown CPU"),
        machine.cpus.unwrap_or(0)
    );
    let name = std::env::var("EMBERMARK_RECORD_AS").unwrap_or_else(|_| "plan".to_owned());
    fs::create_dir_all(folder()).unwrap();
    let text = serde_json::to_string(&Recording { about, cells }).unwrap();
    fs::write(
        folder().join(name).with_extension("json"),
        text.replace("},{\"cell\"", "},\n{\"cell\""),
    )
    .unwrap();
}

/// Number of races over a recording, each with its trials in another order.
const RACES: u64 = 10;

/// Number of races in which another engine of each table is split in two.
const RACES_OF_TWINS: u64 = 24;

/// Returns the seconds that all recorded trials took.
fn whole(of: &Recording) -> f64 {
    of.cells.iter().flat_map(|cell| &cell.trials).map(|trial| trial.seconds).sum()
}

/// Returns what the race knows about each cell after a quarter of `whole` seconds, with its
/// recorded trials in random order, and how many seconds these took.
fn raced(of: &Recording, whole: f64, seed: u64) -> (Vec<Lane>, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut left: Vec<Vec<RecordedTrial>> = Vec::new();
    for cell in &of.cells {
        let mut own = cell.trials.clone();
        own.shuffle(&mut random);
        left.push(own);
    }
    let lane = |cell: &Recorded| Lane { group: cell.group, ..Lane::default() };
    let mut lanes: Vec<Lane> = of.cells.iter().map(lane).collect();
    let mut first = 0..lanes.len();
    let mut seconds = 0.0;
    while let Some(at) = first.next().or_else(|| next_lane(&lanes)) {
        let Some(trial) = left[at].pop() else {
            if lanes[at].cost.is_infinite() {
                // All cells that want another trial have none left.
                break;
            }
            // A trial that was not recorded cannot be replayed, so the cell comes last.
            lanes[at].cost = f64::INFINITY;
            continue;
        };
        if seconds + trial.seconds > whole / 4.0 {
            break;
        }
        seconds += trial.seconds;
        lanes[at].trials += 1;
        lanes[at].cost = lanes[at].cost.max(trial.seconds);
        for (phase, time) in trial.phases {
            lanes[at].figures.entry(phase).or_default().push(time);
        }
    }
    (lanes, seconds)
}

/// Two competing cells, and a phase that both have.
type Pair = (usize, usize, String);

fn pairs(of: &Recording) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (a, one) in of.cells.iter().enumerate() {
        let others = of.cells.iter().enumerate().skip(a + 1);
        for (b, other) in others.filter(|(_, other)| other.group == one.group) {
            let phases: BTreeSet<&String> =
                one.trials.iter().flat_map(|t| t.phases.keys()).collect();
            let both = phases.into_iter().filter(|phase| !times(other, phase).is_empty());
            pairs.extend(both.map(|phase| (a, b, phase.clone())));
        }
    }
    pairs
}

fn times(cell: &Recorded, phase: &str) -> Vec<f64> {
    cell.trials.iter().filter_map(|trial| trial.phases.get(phase).copied()).collect()
}

/// Whether an interval says that two differ. `None` if there is none.
fn differ(one: &[f64], other: &[f64]) -> Option<bool> {
    ratio_interval(one, other).map(|interval| !includes_one(interval))
}

/// Returns the number of these pairs that have the same order in a race.
fn agreeing(of: &Recording, lanes: &[Lane], pairs: &[Pair]) -> usize {
    let same = |(a, b, phase): &&Pair| {
        let recorded = |at: usize| median(&times(&of.cells[at], phase));
        let raced = |at: usize| lanes[at].figures.get(phase).and_then(|times| median(times));
        raced(*a).is_some() && (recorded(*a) < recorded(*b)) == (raced(*a) < raced(*b))
    };
    pairs.iter().filter(same).count()
}

/// Deals the trials of each cell to two.
fn dealt(of: &Recording, seed: u64) -> [Recording; 2] {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for cell in &of.cells {
        let mut one = cell.clone();
        one.trials.shuffle(&mut random);
        let trials = one.trials.split_off(one.trials.len() / 2);
        others.push(Recorded { trials, ..one.clone() });
        ones.push(one);
    }
    [ones, others].map(|cells| Recording { about: of.about.clone(), cells })
}

#[test]
fn the_race_comes_to_the_order_of_the_full_plan_in_a_quarter_of_its_time() {
    let all = recordings();
    assert!(!all.is_empty(), "no recording in {}", folder().display());
    for (name, of) in all {
        let (whole, pairs) = (whole(&of), pairs(&of));
        let is_certain = |(a, b, phase): &&Pair| {
            let of = |at: usize| times(&of.cells[at], phase);
            differ(&of(*a), &of(*b)) == Some(true)
        };
        let certain: Vec<Pair> = pairs.iter().filter(is_certain).cloned().collect();
        let seeds = sampled(0..RACES, 4);
        let (races, mut seconds) = (seeds.len(), 0.0);
        let (mut same, mut elsewhere) = (0, 0);
        for seed in seeds {
            let (lanes, took) = raced(&of, whole, seed);
            same += agreeing(&of, &lanes, &certain);
            seconds += took / races as f64;
            // The same for trials that the race did not use.
            let [half, others] = dealt(&of, seed);
            elsewhere += agreeing(&others, &raced(&half, whole, seed).0, &certain);
        }
        let share = |of: usize| 100.0 * of as f64 / (certain.len() * races) as f64;
        let (same, elsewhere) = (share(same), share(elsewhere));
        println!(
            "{name} ({}): {} of {} pairs certain; raced in {seconds:.0} of {whole:.0} s, {same:.1} % in the same \
             order; by half of the trials in that of the other half {elsewhere:.1} %",
            of.about,
            certain.len(),
            pairs.len(),
        );
        assert!(same >= 95.0 && elsewhere >= 95.0, "{name}: {same} %, {elsewhere} %");
        assert!(seconds <= whole / 4.0, "{name}: {seconds} s of {whole}");
    }
}

/// Returns the recording with one cell of each group split in two, another one for each seed, and
/// the indexes of the two.
fn with_twins(of: &Recording, seed: u64) -> (Recording, Vec<(usize, usize)>) {
    let [one, other] = dealt(of, seed);
    let mut cells = of.cells.clone();
    let mut twins = Vec::new();
    let groups: BTreeSet<usize> = cells.iter().map(|cell| cell.group).collect();
    for group in groups {
        let own: Vec<usize> =
            (0..of.cells.len()).filter(|at| of.cells[*at].group == group).collect();
        let at = own[seed as usize % own.len()];
        twins.push((at, cells.len()));
        cells[at] = one.cells[at].clone();
        cells.push(other.cells[at].clone());
    }
    (Recording { about: of.about.clone(), cells }, twins)
}

#[test]
fn races_call_few_engines_different_from_themselves() {
    for (name, of) in recordings() {
        let whole = whole(&of);
        let (mut different, mut decided, mut all) = (0, 0, 0);
        for seed in sampled(0..RACES_OF_TWINS, 12) {
            let (of, twins) = with_twins(&of, seed);
            let (lanes, _) = raced(&of, whole, seed);
            for (one, other) in twins {
                for (phase, times) in &lanes[one].figures {
                    let Some(others) = lanes[other].figures.get(phase) else { continue };
                    let differ = differ(times, others);
                    all += 1;
                    decided += usize::from(differ.is_some());
                    different += usize::from(differ == Some(true));
                }
            }
        }
        println!(
            "{name}: {different} called different of {decided} that have an interval, of {all}"
        );
        // Over all pairs it would be less, because most have no interval and are not called
        // different.
        assert!(20 * different <= decided, "{name}: {different} of {decided}");
    }
}

#[test]
fn after_a_tenth_of_a_full_plan_its_length_is_known_to_a_fifth() {
    for (name, of) in recordings() {
        let whole = whole(&of);
        let cells: Vec<PlannedCell> = of.cells.iter().map(planned).collect();
        let mut furthest: f64 = 0.0;
        for seed in 0..RACES {
            let trials = of.cells.iter().zip(&cells);
            let mut turns: Vec<(&PlannedCell, &RecordedTrial)> =
                trials.flat_map(|(own, cell)| own.trials.iter().map(move |t| (cell, t))).collect();
            turns.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
            let (mut spent, mut ended) = (0.0, Vec::new());
            while spent < whole / 10.0 {
                let (cell, recorded) = turns.remove(0);
                spent += recorded.seconds;
                let wall_ns = (recorded.seconds * 1e9) as u64;
                let phases = vec![PhaseResult::default(); recorded.phases.len()];
                let trial = Trial { wall_ns, phases, ..Trial::default() };
                ended.push(EndedTrial { cell: cell.id.clone(), trial });
            }
            let left: Vec<&PlannedCell> = turns.iter().map(|(cell, _)| *cell).collect();
            let says = spent + pass::expected(&left, &ended).as_secs_f64();
            furthest = furthest.max((says / whole - 1.0).abs());
        }
        println!("{name}: after a tenth its length is known to {:.0} %", furthest * 100.0);
        assert!(furthest <= 0.2, "{name}: {furthest}");
    }
}

/// Makes the planned cell of a recorded one.
fn planned(of: &Recorded) -> PlannedCell {
    let engine = of.cell.split(' ').next().unwrap_or_default().to_owned();
    let id = CellId {
        engine,
        workload: of.group.to_string(),
        scale: Scale::Rows(1),
        durability: Durability::Process,
        variant: String::new(),
        memory_limit: None,
        storage: None,
    };
    PlannedCell {
        id,
        phases: of.trials[0].phases.keys().cloned().collect(),
        effective_durability: None,
        reference: false,
        unpublishable: false,
        skip: None,
    }
}
