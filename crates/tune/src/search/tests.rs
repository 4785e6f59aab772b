use std::collections::BTreeMap;

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::*;

/// An engine with random times: each setting multiplies them by its factor, and each trial varies
/// by some percent.
struct RandomBench {
    random: Xoshiro256PlusPlus,
    /// For each `name=value` the speedup, and whether it keeps the tier.
    settings: Vec<(&'static str, f64, bool)>,
    noise: f64,
    left: Duration,
    /// Duration of a test of the tier.
    proof: Duration,
    /// Number of such tests so far.
    proofs: u32,
    /// Whether the winner's trials at the end lack a phase.
    skips_load_at_the_end: bool,
    asked: Vec<(String, u32)>,
}

const TRIAL: Duration = Duration::from_secs(1);

impl RandomBench {
    fn new(seed: u64, settings: &[(&'static str, f64, bool)]) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            settings: settings.to_vec(),
            noise: 0.06,
            left: Duration::from_secs(600),
            proof: Duration::ZERO,
            proofs: 0,
            skips_load_at_the_end: false,
            asked: Vec::new(),
        }
    }

    fn candidates(&self) -> Vec<Set> {
        self.settings.iter().map(|(setting, ..)| set(setting)).collect()
    }

    fn matching<'a>(&'a self, own: &'a Set) -> impl Iterator<Item = &'a (&'static str, f64, bool)> {
        self.settings.iter().filter(move |(setting, ..)| {
            set(setting).iter().all(|(name, value)| own.get(name) == Some(value))
        })
    }
}

fn set(text: &str) -> Set {
    let pair = |text: &str| text.split_once('=').map(|(name, value)| (name.into(), value.into()));
    text.split(',').filter_map(pair).collect()
}

impl Bench for RandomBench {
    type Error = std::convert::Infallible;

    fn trials(&mut self, about: &str, columns: &[Set], times: u32) -> Result<Columns, Self::Error> {
        self.asked.push((about.to_owned(), times));
        self.left = self.left.saturating_sub(TRIAL * times * columns.len() as u32);
        let mut all = Vec::new();
        for column in columns {
            let factor: f64 = self.matching(column).map(|(_, factor, _)| factor).product();
            let mut trials = Vec::new();
            for _ in 0..times {
                let mut trial = BTreeMap::new();
                for (phase, ns) in [("load", 1e5), ("read", 700.0)] {
                    let noise = self.noise * self.random.random_range(-1.7..1.7f64);
                    trial.insert(phase.to_owned(), ns / factor * noise.exp());
                }
                trials.push(trial);
            }
            all.push(ColumnResult::Times(trials));
        }
        Ok(all)
    }

    fn final_trials(&mut self, winner: &Set, times: u32) -> Result<Columns, Self::Error> {
        let mut columns = self.trials("the end", &[Set::new(), winner.clone()], times)?;
        if let ColumnResult::Times(own) = &mut columns[1]
            && self.skips_load_at_the_end
        {
            for trial in own {
                trial.remove("load");
            }
        }
        Ok(columns)
    }

    fn keeps_tier(&mut self, own: &Set) -> Result<Kept, Self::Error> {
        self.proofs += 1;
        self.left = self.left.saturating_sub(self.proof);
        Ok(match self.matching(own).all(|(.., keeps)| *keeps) {
            true => Kept::Shown { kills: 1, states: 1 },
            false => Kept::Broken { lost: "1 commit in 1 of 1 states".to_owned() },
        })
    }

    fn proof_time(&self) -> Duration {
        if self.proofs > 0 { self.proof } else { Duration::ZERO }
    }

    fn time_left(&self) -> Duration {
        self.left
    }

    fn trial_time(&self) -> Duration {
        TRIAL
    }
}

const EQUAL: [(&str, f64, bool); 12] = [
    ("a=1", 1.0, true),
    ("a=2", 1.0, true),
    ("b=1", 1.0, true),
    ("b=2", 1.0, true),
    ("c=1", 1.0, true),
    ("d=1", 1.0, true),
    ("e=1", 1.0, true),
    ("f=1", 1.0, true),
    ("g=1", 1.0, true),
    ("h=1", 1.0, true),
    ("i=1", 1.0, true),
    ("j=1,k=1", 1.0, true),
];

fn found(bench: &mut RandomBench) -> SearchResult {
    let candidates = bench.candidates();
    let Ok(found) = search(bench, candidates);
    found.unwrap()
}

#[test]
fn of_candidates_that_are_equal_none_is_called_a_gain_in_19_of_20() {
    let gains = |seed| found(&mut RandomBench::new(seed, &EQUAL)).better().is_some();
    let called = (0..200).filter(|seed| gains(*seed)).count();
    assert!(called <= 10, "{called} of 200");
}

#[test]
fn one_that_is_20_per_cent_faster_is_found_in_9_of_10_within_the_time() {
    let mut planted = EQUAL.to_vec();
    planted.push(("planted=1", 1.2, true));
    let finds = |seed| {
        let mut bench = RandomBench::new(seed, &planted);
        let found = found(&mut bench);
        let has = found.better().is_some_and(|(set, _)| set.contains_key("planted"));
        has && bench.left > Duration::ZERO
    };
    let times = (0..200).filter(|seed| finds(*seed)).count();
    assert!(times >= 180, "{times} of 200");
}

#[test]
fn what_is_faster_and_loses_a_commit_is_told_and_never_taken() {
    let mut planted = EQUAL.to_vec();
    planted.extend([("unsafe=1", 3.0, false), ("safe=1", 1.3, true)]);
    let found = found(&mut RandomBench::new(7, &planted));
    let (winner, gain) = found.better().unwrap();
    assert!(winner.contains_key("safe") && !winner.contains_key("unsafe"), "{winner:?}");
    assert!((1.15..1.5).contains(&gain.ratio), "{gain:?}");
    let told = found.tried.iter().find(|tried| tried.set.contains_key("unsafe")).unwrap();
    let Outcome::Broken { lost } = &told.outcome else { panic!("{told:?}") };
    assert!(lost.contains("1 commit") && told.gain.unwrap() > 2.0, "{told:?}");
    assert!(matches!(found.kept, Some(Kept::Shown { .. })));
}

#[test]
fn gains_add_up_and_of_two_values_of_a_setting_the_better_is_taken() {
    let settings = [
        ("page=1", 1.2, true),
        ("page=2", 1.5, true),
        ("log=1", 1.4, true),
        ("slow=1", 0.5, true),
        ("c=1", 1.0, true),
    ];
    let found = found(&mut RandomBench::new(3, &settings));
    let (winner, gain) = found.better().unwrap();
    assert_eq!((winner["page"].as_str(), winner["log"].as_str()), ("2", "1"), "{winner:?}");
    assert!(!winner.contains_key("slow") && (1.9..2.3).contains(&gain.ratio), "{found:?}");
    assert_eq!(gain.phases.len(), 2);
    let of = |text: &str| found.tried.iter().find(|tried| tried.set == set(text)).unwrap();
    assert_eq!(of("page=1").outcome, Outcome::Instead);
    assert_eq!(of("slow=1").outcome, Outcome::NotFaster);
}

#[test]
fn a_time_that_is_too_short_says_how_long_it_takes() {
    let mut bench = RandomBench::new(1, &EQUAL);
    bench.left = Duration::from_secs(20);
    let candidates = bench.candidates();
    let Ok(short) = search(&mut bench, candidates);
    // 13 columns with 2 trials each are half of it.
    assert_eq!(short.unwrap_err().least, Duration::from_secs(52));
    assert!(bench.asked.is_empty(), "nothing is searched");
}

#[test]
fn tests_of_the_tier_stay_within_the_time() {
    let gains = [
        ("a=1", 1.3, true),
        ("b=1", 1.3, true),
        ("c=1", 1.3, true),
        ("d=1", 1.3, true),
        ("e=1", 1.3, true),
        ("f=1", 1.3, true),
    ];
    let mut bench = RandomBench::new(2, &gains);
    // Three of them would take all of the 600 s.
    bench.proof = Duration::from_secs(200);
    let found = found(&mut bench);
    assert!(bench.left > Duration::ZERO && bench.proofs == 2, "{}: {found:?}", bench.proofs);
    assert_eq!(found.better().unwrap().0.len(), 2, "{found:?}");
    assert!(found.left_out[0].starts_with("on top of what was taken: "), "{found:?}");
}

#[test]
fn a_gain_within_its_own_error_is_not_taken() {
    let candidate = |gains: &[f64]| Candidate {
        set: set("a=1"),
        gains: gains.to_vec(),
        outcome: Outcome::NotFaster,
        first: (0, None),
    };
    assert!(!candidate(&[0.3, -0.24]).is_gain(), "3 % on average, by chance");
    assert!(candidate(&[0.05, 0.06, 0.05, 0.06]).is_gain());
    assert!(!candidate(&[0.01; 8]).is_gain(), "less than the least");
    assert!(!candidate(&[]).is_gain());
}

#[test]
fn a_winner_that_skips_a_phase_at_the_end_is_no_gain_and_the_table_says_why() {
    let mut bench = RandomBench::new(5, &[("a=1", 1.5, true), ("b=1", 1.0, true)]);
    bench.skips_load_at_the_end = true;
    let found = found(&mut bench);
    assert!(found.gain.is_none() && found.winner.is_empty(), "{found:?}");
    let tried = found.tried.iter().find(|tried| tried.set == set("a=1")).unwrap();
    let Outcome::Out { why } = &tried.outcome else { panic!("{tried:?}") };
    assert!(why.starts_with("when it was measured again: ") && why.contains("phase"), "{why}");
}
