//! Losing is not winning: a cell that lost samples has no score, no rank and no place in advice, and
//! what it lost stands there.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use embermark_model::Durability;
use embermark_model::result::{Cell, Observed, PhaseResult, Resources, ResultFile};
use embermark_report::advise::{self, Needs, Weight};
use embermark_report::cost::score::Weights;
use embermark_report::html::{self, PageOptions, Source};
use embermark_report::{Beside, Files, Format, Options, load, overview, render};

/// What a writer took of 40,000 samples, and the CPU time that it needed.
const TAKEN: [(&str, u64, u64); 3] =
    [("sqlite", 40_000, 900_000_000), ("lmdb", 15_739, 100_000_000), ("redb", 40_000, 800_000_000)];

fn machine() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1-machine.json")).unwrap();
    let whole = file.cells[0].clone();
    file.plan.rate = embermark_model::plan::Rate::PerSecond(20_000);
    file.cells =
        TAKEN.map(|(engine, samples, cpu_ns)| cell(&whole, engine, samples, cpu_ns)).into();
    file.plan.engines = TAKEN.map(|(engine, ..)| engine.to_owned()).into();
    file.manifest.engines.clear();
    file
}

/// A cell that wrote so, in three trials, and read cycles well.
fn cell(whole: &Cell, engine: &str, samples: u64, cpu_ns: u64) -> Cell {
    let mut cell = whole.clone();
    cell.id.engine = engine.into();
    let phase = |name: &str, counts: &[(&str, u64)], latencies: &[&str]| -> PhaseResult {
        let mut phase = whole.trials[0].phases[0].clone();
        phase.phase = name.into();
        let seen = phase.runs[0].observed.as_mut().unwrap();
        let time = seen.latencies["commit"].clone();
        let writer = Resources {
            cpu_ns: Some(cpu_ns),
            peak_bytes: Some(1_000_000),
            read_bytes: Some(0),
            written_bytes: Some(samples * 22),
            ..Resources::default()
        };
        *seen = Observed {
            window_ns: 2_000_000_000,
            disk_growth_bytes: Some(1_000_000),
            counts: counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            latencies: latencies.iter().map(|of| ((*of).to_owned(), time.clone())).collect(),
            processes: [("writer".to_owned(), writer)].into(),
            ..Observed::default()
        };
        phase.runs[0].engine = writer;
        phase
    };
    let lost = 40_000 - samples;
    let phases = vec![
        phase("write", &[("samples", samples), ("lost", lost)], &["commit", "response"]),
        phase("read_bulk", &[("reads", 6), ("missed-slots", 0)], &["read"]),
    ];
    cell.trials = (0..3)
        .map(|index| {
            let mut trial = whole.trials[0].clone();
            (trial.index, trial.phases) = (index, phases.clone());
            trial
        })
        .collect();
    cell
}

fn options() -> Options<'static> {
    let weights = Weights { effort: 0.0, io: 0.0, ..Weights::default() };
    Options { width: 250, weights, published: Beside::None, ..Options::default() }
}

/// The lines of a text that begin with some words.
fn lines<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(begin)).collect()
}

const LOST: &str = "lost 24,261 of 40,000";

#[test]
fn what_was_lost_stands_in_the_place_of_the_score_and_of_the_ratio() {
    let shown = render(&machine(), Format::Table, &options()).unwrap();
    let scores = lines(&shown, "lmdb individual");
    assert_eq!(scores.len(), 2, "of writing, and of reading: {shown}");
    assert!(scores[0].ends_with(&format!("- {LOST}")), "{shown}");
    assert!(scores[1].contains(&format!("- write {LOST}")), "the cell has none: {shown}");
    for engine in ["sqlite", "redb"] {
        let line = lines(&shown, &format!("{engine} individual"))[0];
        assert!(line.contains(" %") && !line.contains("lost "), "{shown}");
    }
    assert!(lines(&shown, "redb individual")[0].contains('*'), "the least of those: {shown}");
    for (row, said) in [("write /op", "lost 24,261"), ("read_bulk /op", "<")] {
        let row = lines(&shown, row)[0];
        assert_eq!(row.matches("1.00x").count(), 2, "{row}");
        assert!(row.contains(said), "{row}");
    }
    let said = format!("lmdb write (individual), 1k process: {LOST}");
    assert!(shown.contains(&said), "{shown}");
    // Nothing is lost: nothing is said.
    let mut whole = machine();
    whole.cells.remove(1);
    assert!(!render(&whole, Format::Table, &options()).unwrap().contains("did not keep up"));
}

#[test]
fn every_export_says_what_was_lost_where_others_have_a_ratio() {
    let file = machine();
    let shown = |format| render(&file, format, &options()).unwrap();
    assert!(
        shown(Format::Markdown).contains(&format!("\\- {LOST}"))
            || shown(Format::Markdown).contains(&format!("- {LOST}"))
    );
    let text = shown(Format::Csv);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|known| known == name).unwrap();
    let mut seen = 0;
    for line in reader.records().map(|line| line.unwrap()) {
        let (lossy, writes) = (&line[at("engine")] == "lmdb", &line[at("phase")] == "write");
        let said = match (lossy, writes) {
            (false, _) => String::new(),
            (true, true) => LOST.to_owned(),
            (true, false) => format!("write {LOST}"),
        };
        assert_eq!(line[at("shortfall")], said);
        assert_eq!(line[at("ratio")].is_empty(), lossy);
        seen += u32::from(lossy);
    }
    assert_eq!(seen, 6);
    let json: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    let statistics = json["statistics"].as_array().unwrap();
    let lossy: Vec<_> = statistics.iter().filter(|of| of["engine"] == "lmdb").collect();
    assert_eq!(lossy[0]["shortfall"], LOST);
    assert!(lossy.iter().all(|of| of.get("ratio").is_none()), "{lossy:?}");
}

#[test]
fn the_page_is_told_and_the_first_screen_says_it() {
    let file = machine();
    let path = Path::new("result.json");
    let options = PageOptions { order: &[], engines: Vec::new(), workloads: Vec::new() };
    let page = html::data(&[Source { path, result: &file }], options).unwrap();
    let page = serde_json::to_value(&page).unwrap();
    let entries = page["entries"].as_array().unwrap();
    let short: Vec<_> = entries.iter().filter_map(|entry| entry.get("shortfall")).collect();
    assert_eq!(short, [LOST, &format!("write {LOST}")]);
    assert!(page["costs"].to_string().contains(&format!("- {LOST}")));
    let screen = overview(&file, &Options::default(), &Files::default());
    assert!(lines(&screen, "machine 1k")[0].contains("lost 24,261<"), "{screen}");
    assert!(screen.contains(&format!("machine: lmdb: write {LOST}")), "{screen}");
}

#[test]
fn advice_leaves_out_who_lost_and_says_what() {
    let file = machine();
    let table = advise::table(&[&file]);
    let lossy = table.engines.iter().find(|entry| entry.engine == "lmdb").unwrap();
    assert!(lossy.ratios.keys().all(|criterion| *criterion == "effort"), "{:?}", lossy.ratios);
    let tier = Durability::Process;
    let needs = Needs { tier, sql: false, embedded: false, memory_bytes: None, licence: None };
    for criterion in ["ingest", "analytics", "memory", "disk", "start"] {
        let weights = [Weight { criterion: criterion.into(), weight: 1.0 }];
        let advice = advise::advise(&table, needs, &weights).unwrap();
        let ranked: Vec<&str> = advice.ranked.iter().map(|place| &*place.engine).collect();
        assert!(ranked.len() == 2 && !ranked.contains(&"lmdb"), "{criterion}: {ranked:?}");
        let why = &advice.unmeasured[0].why;
        let said = format!("machine 1k individual: write {LOST}");
        assert_eq!(why[..], [format!("not measured for {criterion}"), said]);
    }
}

#[test]
fn the_highest_rate_is_the_median_of_the_trials() {
    let mut file = load(Path::new("tests/fixtures/schema-1-machine.json")).unwrap();
    file.cells.truncate(2);
    for (cell, rates) in file.cells.iter_mut().zip([[5_000, 9_100, 7_000], [3_500; 3]]) {
        let trial = cell.trials[0].clone();
        let trials = rates.into_iter().zip(0..).map(|(rate, index)| {
            let mut trial = trial.clone();
            trial.index = index;
            let seen = trial.phases[0].runs[0].observed.as_mut().unwrap();
            seen.counts.insert("sustained-rate".into(), rate);
            trial
        });
        cell.trials = trials.collect();
    }
    let shown = render(&file, Format::Table, &options()).unwrap();
    let rate = |engine: &str| {
        let line = lines(&shown, &format!("{engine} individual"))[0];
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!([rate("sqlite"), rate("redb")], ["7,000", "3,500"], "{shown}");
    let row = lines(&shown, "sustained /op")[0];
    assert!(row.contains("1.00x*") && row.contains("2.00x"), "the rates' ratio: {row}");
    // A trial that kept no rate is no measure, and its cell has no rank.
    let seen = file.cells[1].trials[0].phases[0].runs[0].observed.as_mut().unwrap();
    seen.counts.insert("sustained-rate".into(), 0);
    let shown = render(&file, Format::Table, &options()).unwrap();
    assert!(lines(&shown, "sustained /op")[0].contains("no rate"), "{shown}");
}
