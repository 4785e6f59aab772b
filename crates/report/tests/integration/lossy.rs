//! Cells that lost samples do not win: they have no score, no rank and no place in advice, and the
//! loss is shown instead.

use std::path::Path;

use embermark_model::result::{Cell, DeviceIo, Observed, PhaseResult, Resources, ResultFile};
use embermark_model::{Durability, Status};
use embermark_report::advise::{self, Needs, Weight};
use embermark_report::compare::{self, Verdict};
use embermark_report::cost::score::Weights;
use embermark_report::html::{self, PageOptions, Source};
use embermark_report::{Files, Format, Options, PublishedDetail, load, render, screen};

/// Samples of 40,000 that a writer stored, and the CPU time that it needed.
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

/// Makes a cell with such a writer, in three trials, which read cycles well.
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
    Options { width: 250, weights, published: PublishedDetail::None, ..Options::default() }
}

/// Returns the lines of a text that begin with a prefix.
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
    let said = format!("lmdb write (individual), machine 1k process: {LOST}");
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&said), "{shown}");
    // Without a loss there is no remark.
    let mut whole = machine();
    whole.cells.remove(1);
    assert!(!render(&whole, Format::Table, &options()).unwrap().contains("did not keep up"));
}

/// Returns the scores of the table of writing, by engine, and the notes below it.
fn scores(file: &ResultFile, weights: Weights) -> (Vec<String>, String) {
    let shown = render(file, Format::Table, &Options { weights, ..options() }).unwrap();
    let score = |(engine, ..): (&str, u64, u64)| {
        let line = lines(&shown, &format!("{engine} individual"))[0];
        line.rsplit("   ").next().unwrap().trim().to_owned()
    };
    let scores = TAKEN.map(score).into();
    (scores, shown.split("· writing").nth(1).unwrap().split("· three").next().unwrap().to_owned())
}

#[test]
fn who_keeps_less_than_the_tier_or_answered_wrongly_elsewhere_has_no_score() {
    let weaker = |cell: &mut Cell| cell.effective_durability = Some(Durability::None);
    let wrong = |cell: &mut Cell| {
        cell.status = Status::Wrong;
        cell.trials.iter_mut().for_each(|trial| trial.phases[1].status = Status::Wrong);
    };
    for unfit in [&weaker as &dyn Fn(&mut Cell), &wrong] {
        let mut file = machine();
        let mut another = file.cells[0].clone();
        another.id.engine = "fjall".into();
        file.cells.push(another);
        assert!(scores(&file, Weights::default()).0[2].ends_with("%*"), "redb is the best");
        unfit(&mut file.cells[2]);
        let (left, shown) = scores(&file, Weights::default());
        assert_eq!(left[2], "-", "{shown}");
        assert!(left[0].contains('%'), "{shown}");
    }
}

const NOT_COUNTED: &str = "disk I/O was not counted: it weighs nothing";

#[test]
fn what_was_counted_for_no_row_of_a_table_weighs_nothing_and_what_one_row_lacks_takes_its_score() {
    let mut file = machine();
    let (without, below) = scores(&file, Weights::default());
    assert!(without[0].ends_with('%') && without[2].ends_with("%*"), "{without:?}");
    assert_eq!(without, scores(&file, Weights { io: 0.0, ..Weights::default() }).0);
    assert!(below.contains(NOT_COUNTED), "{below}");
    // If it is counted for all rows, it has a weight: more bytes mean a lower score.
    let counts = [4_000_000, 1_000, 1_000_000];
    for (cell, written_bytes) in file.cells.iter_mut().zip(counts) {
        let mut counting = cell.trials[0].clone();
        for run in counting.phases.iter_mut().flat_map(|phase| &mut phase.runs) {
            run.device_io = Some(DeviceIo { written_bytes, ..DeviceIo::default() });
        }
        cell.counting = Some(Box::new(counting));
    }
    let (with, below) = scores(&file, Weights::default());
    let percent = |score: &str| score.split(' ').next().unwrap().parse::<u32>().unwrap();
    assert!(percent(&with[0]) < percent(&without[0]), "{with:?} {without:?}");
    assert!(percent(&with[2]) > percent(&without[2]), "{with:?} {without:?}");
    assert!(!below.contains("not counted"), "{below}");
    // If it is missing for only one engine, that engine has no score. No table states that it
    // weighs nothing.
    file.cells[0].counting = None;
    let (lacking, below) = scores(&file, Weights::default());
    assert_eq!(lacking[0], "-", "{lacking:?}");
    assert!(lacking[2].ends_with('*') && !below.contains("not counted"), "{lacking:?}");
}

#[test]
fn a_comparison_says_what_was_lost_and_does_not_call_it_faster() {
    let (file, mut whole) = (machine(), machine());
    let [sqlite, lossy] = [0, 1].map(|at| whole.cells[at].clone());
    whole.cells[1] = Cell { id: lossy.id, ..sqlite };
    let changes = compare::compare(&whole, &file);
    let of = |phase: &str| {
        let of = |change: &&compare::Change| change.cell.engine == "lmdb" && change.phase == phase;
        changes.phases.iter().find(of).unwrap()
    };
    let (write, read) = (of("write"), of("read_bulk"));
    assert_eq!((write.verdict, read.verdict), (Verdict::DidNotKeepUp, Verdict::DidNotKeepUp));
    assert_eq!(write.lacking, Some(format!("new {LOST}")));
    let shown = compare::table(&changes, &options());
    assert!(shown.contains(&format!("did not keep up: new {LOST}\n")), "{shown}");
    assert!(compare::csv(&changes).unwrap().contains(&format!("\"new {LOST}\"")));
    assert!(compare::json(&changes).unwrap().contains(&format!("\"lacking\": \"new {LOST}\"")));
    // Its resources are those of less work.
    let used: Vec<&str> = changes.used.iter().map(|used| &*used.cell.engine).collect();
    assert_eq!(used, ["sqlite", "redb"]);
    // The change in the other direction is not a gain.
    let back = compare::compare(&file, &whole);
    assert!(back.phases.iter().all(|change| change.verdict != Verdict::Faster));
    assert!(compare::compare(&whole, &whole).phases.iter().all(|c| c.lacking.is_none()));
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
    let options = PageOptions::default();
    let page = html::data(&[Source { path, result: &file }], options).unwrap();
    let page = serde_json::to_value(&page).unwrap();
    let entries = page["entries"].as_array().unwrap();
    let short: Vec<_> = entries.iter().filter_map(|entry| entry.get("shortfall")).collect();
    assert_eq!(short, [LOST, &format!("write {LOST}")]);
    assert!(page["costs"].to_string().contains(&format!("- {LOST}")));
    let screen = screen(&file, &Options::default(), &Files::default());
    assert!(lines(&screen, "machine 1k")[0].contains("lost 24,261<"), "{screen}");
    assert!(screen.contains(&format!("machine: lmdb: write {LOST}")), "{screen}");
}

#[test]
fn advice_leaves_out_who_lost_and_says_what() {
    let file = machine();
    let tables = advise::tables(&[&file], None, &[]);
    let [table] = &tables.tables[..] else { panic!("one scale") };
    let lossy = table.engines.iter().find(|entry| entry.engine == "lmdb").unwrap();
    assert!(lossy.ratios.keys().all(|criterion| *criterion == "effort"), "{:?}", lossy.ratios);
    let needs = Needs::only(Durability::Process);
    for criterion in ["ingest", "analytics", "memory", "disk", "start"] {
        let weights = [Weight { criterion: criterion.into(), weight: 1.0 }];
        let advice = advise::advise(table, needs, &weights).unwrap();
        let ranked: Vec<&str> = advice.ranked.iter().map(|place| &*place.engine).collect();
        assert!(ranked.len() == 2 && !ranked.contains(&"lmdb"), "{criterion}: {ranked:?}");
        let why = &advice.unmeasured[0].why;
        let said = format!("machine 1k individual: write {LOST}");
        assert_eq!(why[..], [format!("not measured for {criterion}"), said.clone()]);
        let json = advise::json(&[(table, advice)], &tables).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let engines = json["tables"][0]["engines"].as_array().unwrap();
        let lossy = engines.iter().find(|entry| entry["engine"] == "lmdb").unwrap();
        assert_eq!(lossy["shortfalls"], serde_json::json!([said]));
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
    // A trial that sustained no rate is not a measurement, and its cell has no rank.
    let seen = file.cells[1].trials[0].phases[0].runs[0].observed.as_mut().unwrap();
    seen.counts.insert("sustained-rate".into(), 0);
    let shown = render(&file, Format::Table, &options()).unwrap();
    assert!(lines(&shown, "sustained /op")[0].contains("no rate"), "{shown}");
}
