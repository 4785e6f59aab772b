//! How often an interval covers the true median, by simulation: the table in `docs/statistics.md`.

use embermark_report::statistics::{includes_one, interval, mean_ratio_interval, ratio_interval};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const DOCUMENT: &str = "../../docs/statistics.md";
const HEADER: &str = "| trials | covers | equals told apart | equal means told apart |\n\
                      |---|---|---|---|\n";
/// Trials of each row.
const ROWS: [usize; 6] = [3, 4, 5, 7, 10, 20];
/// Repetitions behind the table.
const REPETITIONS: usize = 10_000;
/// Phases of a mean.
const PHASES: usize = 10;

/// Normal samples by the polar method of G. Marsaglia and T. A. Bray, "A Convenient Method for
/// Generating Normal Variables", SIAM Review 6(3), 1964.
struct Normal(Xoshiro256PlusPlus);

impl Normal {
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn trials(&mut self, n: usize) -> Vec<f64> {
        let mut one = || loop {
            let (x, y) = (self.unit(), self.unit());
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return 100.0 + 5.0 * x * (-2.0 * square.ln() / square).sqrt();
            }
        };
        (0..n).map(|_| one()).collect()
    }
}

/// Returns the share of the repetitions in which `holds` is true for samples of a known
/// distribution.
fn share(repetitions: usize, mut holds: impl FnMut(&mut Normal) -> bool) -> f64 {
    let mut normal = Normal(Xoshiro256PlusPlus::seed_from_u64(7));
    (0..repetitions).filter(|_| holds(&mut normal)).count() as f64 / repetitions as f64
}

/// Returns how often an interval of `n` trials covers the true median.
fn covers(n: usize, repetitions: usize) -> f64 {
    share(repetitions, |normal| {
        let [low, high] = interval(&normal.trials(n)).unwrap();
        low <= 100.0 && 100.0 <= high
    })
}

/// Returns how often two equals differ significantly.
fn told_apart(n: usize, repetitions: usize) -> f64 {
    share(repetitions, |normal| {
        !includes_one(ratio_interval(&normal.trials(n), &normal.trials(n)).unwrap())
    })
}

/// Returns how often the means of two equals over ten phases in one cell differ significantly. The
/// luck of a whole trial has as much weight as that of each phase.
fn means_told_apart(n: usize, repetitions: usize) -> f64 {
    share(repetitions, |normal| {
        let mut engine = || -> Vec<Vec<f64>> {
            let whole = normal.trials(n);
            let mut phase = || whole.iter().zip(normal.trials(n)).map(|(a, b)| a * b).collect();
            (0..PHASES).map(|_| phase()).collect()
        };
        let (one, other) = (engine(), engine());
        let [one, other] =
            [&one, &other].map(|engine| [engine.iter().map(Vec::as_slice).collect()]);
        !includes_one(mean_ratio_interval(&one, &other).unwrap())
    })
}

/// Returns the rows of the table in the document: trials, and the three shares.
fn documented() -> Vec<(usize, [f64; 3])> {
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    let (_, rows) = text.split_once(HEADER).unwrap();
    let number = |cell: &str| cell.trim().trim_end_matches(" %").parse::<f64>().unwrap();
    rows.lines()
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<f64> = line.trim_matches('|').split('|').map(number).collect();
            (cells[0] as usize, [cells[1], cells[2], cells[3]].map(|percent| percent / 100.0))
        })
        .collect()
}

/// Asserts that a share is within three standard errors of the document's.
fn is_documented(name: &str, found: f64, documented: f64, repetitions: usize) {
    let error = (documented * (1.0 - documented) / repetitions as f64).sqrt();
    println!("{name}: {found}, documented {documented}, standard error {error:.4}");
    assert!((found - documented).abs() <= 3.0 * error, "{name}: {found}, not {documented}");
}

#[test]
fn intervals_cover_and_tell_apart_as_documented() {
    let table = documented();
    assert_eq!(table.iter().map(|(n, _)| *n).collect::<Vec<_>>(), ROWS);
    for (n, [covered, apart, _]) in table {
        is_documented(&format!("{n} trials cover"), covers(n, 2_000), covered, 2_000);
        is_documented(&format!("{n} trials tell apart"), told_apart(n, 2_000), apart, 2_000);
    }
}

#[test]
fn means_over_phases_are_told_apart_by_mistake_as_documented() {
    for (n, [.., apart]) in documented() {
        let repetitions = match n {
            0..=4 => 2_000,
            5 => 500,
            _ => 50,
        };
        let found = means_told_apart(n, repetitions);
        is_documented(&format!("{n} trials tell means apart"), found, apart, repetitions);
    }
}

#[test]
fn an_interval_of_twenty_trials_covers_the_truth_as_often_as_it_says() {
    let covered = covers(20, 2_000);
    assert!((0.88..=0.99).contains(&covered), "{covered}");
}

#[test]
fn a_difference_of_many_deviations_is_always_shown() {
    let shown = share(2_000, |normal| {
        let slow: Vec<f64> = normal.trials(3).iter().map(|trial| trial * 2.0).collect();
        ratio_interval(&slow, &normal.trials(3)).unwrap()[0] > 1.0
    });
    assert_eq!(shown, 1.0);
}

/// Prints the table and asserts that the document has exactly the same.
#[test]
#[ignore = "takes minutes: all repetitions"]
fn the_documented_table_is_what_all_repetitions_give() {
    let mut table = HEADER.to_owned();
    for n in ROWS {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let shares = [covers, told_apart, means_told_apart].map(|of| percent(of(n, REPETITIONS)));
        table.push_str(&format!("| {n} | {} |\n", shares.join(" | ")));
    }
    print!("{table}");
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    assert!(text.contains(&table), "{DOCUMENT} has another table");
}
