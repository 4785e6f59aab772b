use std::collections::BTreeSet;
use std::slice;

use embermark_model::plan::Repeats;
use embermark_model::result::{BackgroundCpu, Observed, Resources, ResultFile, WriteBehind};
use embermark_model::{Configuration, Durability, Scale};
use embermark_published::find;

use super::*;

/// Cells of a piece: engine, variant, phase, scale, and elapsed seconds of each run, of which the
/// first is discarded.
type Made<'a> = (&'a str, &'a str, &'a str, u64, &'a [f64]);

fn result(source: &str, piece: &str, cells: &[Made<'_>]) -> ResultFile {
    let path = std::path::Path::new("tests/fixtures/schema-1.json");
    let mut file = crate::load(path).unwrap();
    let template = file.cells[0].clone();
    file.plan.repeats = Some(Repeats { source: source.into(), piece: piece.into() });
    file.plan.configurations.clear();
    file.cells.clear();
    for &(engine, variant, phase, rows, seconds) in cells {
        if let Some((of, _)) = engine.split_once('-') {
            let own = Configuration {
                engine: of.to_owned(),
                settings: [].into(),
                library: None,
                client: None,
            };
            file.plan.configurations.insert(engine.to_owned(), own);
        }
        let mut cell = template.clone();
        cell.id.workload = find(source).unwrap().workload.clone();
        (cell.id.engine, cell.id.variant) = (engine.into(), variant.into());
        (cell.id.scale, cell.id.durability) = (Scale::Rows(rows), Durability::Process);
        cell.trials.truncate(1);
        cell.trials[0].phases.truncate(1);
        let made = &mut cell.trials[0].phases[0];
        (made.phase, made.ops) = (phase.into(), rows);
        let run = made.runs[0].clone();
        made.runs = (seconds.iter().enumerate())
            .map(|(place, seconds)| {
                let mut run = run.clone();
                (run.elapsed_ns, run.ops) = ((seconds * 1e9) as u64, rows);
                (run.discarded, run.capped) = (place == 0, false);
                run
            })
            .collect();
        file.cells.push(cell);
    }
    file
}

fn headline<'a>(text: &'a str, starts: &str) -> &'a str {
    let start = text.find(starts).unwrap_or_else(|| panic!("no '{starts}' in:\n{text}"));
    text[start..].split("\n\n").next().unwrap()
}

#[test]
fn a_ratio_is_of_the_sources_statistic_without_the_discarded_run() {
    let duck = result(
        "ulb",
        "duckdb",
        &[("duckdb", "csv", "load", 1_000_000, &[900.0, 100.0, 200.0, 300.0])],
    );
    let postgres = result(
        "ulb",
        "postgres",
        &[("postgres", "csv", "load", 1_000_000, &[99.0, 10.0, 10.0, 10.0])],
    );
    let results = [duck, postgres];
    let text = text(&results, 100);
    let load = headline(&text, "load: DuckDB to PostgreSQL, 1M");
    assert!(load.contains("145x") && load.contains("3,136 s / 21.7 s"), "{load}");
    assert!(load.contains("20.0x    200 s / 10.0 s [a c d f g h i]"), "{load}");
    assert!(load.contains("at equal durability   -        not run"), "{load}");
    let (measured, open) = text.split_once("\n\nno answer yet for ").unwrap();
    assert!(!measured.contains("read: DuckDB"), "nothing was measured for it:\n{text}");
    assert!(open.starts_with("34 of 41 headlines, as published:\n"), "{text}");
    assert!(open.contains("\n  read: DuckDB to PostgreSQL, 1M: not run\n"), "{text}");
    // One of the four headlines of a conclusion does not decide it.
    let markdown = markdown(&results);
    assert!(markdown.contains("| the same in 1 of 1, 3 undecided |"), "{markdown}");
    assert!(markdown.contains("| 200 s | 100-300 s, 3 runs | 0.0638x |"), "{markdown}");
}

#[test]
fn where_the_sources_scale_was_not_run_the_largest_of_both_is_named() {
    let duck = result(
        "ulb",
        "duckdb",
        &[
            ("duckdb", "csv", "load", 1_000, &[9.0, 2.0]),
            ("duckdb", "csv", "load", 10_000, &[9.0, 30.0]),
            ("duckdb", "csv", "load", 100_000, &[9.0, 400.0]),
        ],
    );
    let postgres = result(
        "ulb",
        "postgres",
        &[
            ("postgres", "csv", "load", 1_000, &[9.0, 1.0]),
            ("postgres", "csv", "load", 10_000, &[9.0, 10.0]),
        ],
    );
    let text = text(&[duck, postgres], 100);
    let load = headline(&text, "load: DuckDB to PostgreSQL");
    assert!(load.contains("3.00x    at 10k: 30.0 s / 10.0 s"), "{load}");
}

#[test]
fn a_ratio_of_one_engine_is_of_two_scales_or_two_variants() {
    let sqlite = result(
        "harperdb",
        "sqlite",
        &[
            ("sqlite-defaults-node-sqlite3", "commit-each", "insert_count", 1_000, &[0.0, 2.0]),
            ("sqlite-defaults-node-sqlite3", "commit-each", "insert_count", 5_000, &[0.0, 9.0]),
        ],
    );
    let batch = result(
        "harperdb",
        "batch",
        &[("sqlite-defaults-node-sqlite3", "single", "insert_count", 5_000, &[0.0, 0.5])],
    );
    let text = text(&[sqlite, batch], 100);
    let scales = headline(&text, "insert and count: SQLite at 5,000 rows");
    assert!(scales.contains("4.50x    9.00 s / 2.00 s"), "{scales}");
    let variants = headline(&text, "insert and count: SQLite a commit a row");
    assert!(variants.contains("18.0x    9.00 s / 500 ms"), "{variants}");
    assert!(variants.contains("not measured there"), "{variants}");
}

#[test]
fn both_figures_of_one_engine_in_one_piece_are_of_the_same_column() {
    let equal = result(
        "harperdb",
        "equal",
        &[
            ("sqlite", "commit-each", "insert_count", 1_000, &[0.0, 1.0]),
            ("sqlite-node-sqlite3", "commit-each", "insert_count", 1_000, &[0.0, 4.0]),
            ("sqlite-node-sqlite3", "commit-each", "insert_count", 5_000, &[0.0, 20.0]),
        ],
    );
    let text = text(&[equal], 100);
    let scales = headline(&text, "insert and count: SQLite at 5,000 rows");
    assert!(scales.contains("5.00x    20.0 s / 4.00 s"), "{scales}");
}

#[test]
fn a_time_per_row_is_of_the_rows_of_each_scale() {
    let berkeley = result(
        "ulb",
        "berkeleydb",
        &[
            ("berkeleydb", "one-transaction", "read", 1_000, &[9.0, 0.001]),
            ("berkeleydb", "one-transaction", "read", 1_000_000, &[9.0, 4.0]),
        ],
    );
    let text = text(&[berkeley], 100);
    let read = headline(&text, "read: Berkeley DB's time per row at 1,000,000 rows to 1,000");
    assert!(read.contains("3.54x    2.46 µs / 696 ns"), "{read}");
    assert!(read.contains("4.00x    4.00 µs / 1.00 µs"), "{read}");
}

#[test]
fn a_figure_is_divided_by_what_the_source_gives() {
    let cell = ("mariadb", "bulk-published", "read_bulk", 1_200_000, &[0.0, 30.0][..]);
    let mut read = result("highfreq", "read", &[cell]);
    let server = Resources {
        read_bytes: Some(30 * 40 * 1024),
        written_bytes: Some(30 * 4 * 1024),
        ..Resources::default()
    };
    read.cells[0].trials[0].phases[0].runs[1].observed = Some(Observed {
        window_ns: 30_000_000_000,
        processes: [("server".to_owned(), server)].into(),
        ..Observed::default()
    });
    let text = text(&[read], 100);
    let io = headline(&text, "disk I/O while cycles are read, MariaDB bulk");
    assert!(io.contains("0.236x   5.20 kB/s / 22.0 kB/s"), "{io}");
    assert!(io.contains("2.00x    44.0 kB/s / 22.0 kB/s"), "{io}");
}

#[test]
fn memory_is_without_what_embermark_had_before_but_all_of_a_server() {
    let cell = |engine: &'static str, variant: &'static str| {
        let cell = (engine, variant, "full_profile", 100_000, &[0.0, 1.0][..]);
        result("ulb", engine, &[cell])
    };
    let mut files = [cell("duckdb", "commit-each"), cell("postgres", "one-transaction")];
    for (file, peak_bytes) in files.iter_mut().zip([120_000_000, 150_000_000]) {
        let trial = &mut file.cells[0].trials[0];
        trial.baseline_bytes = Some(20_000_000);
        let run = &mut trial.phases[0].runs[1];
        run.engine.peak_bytes = Some(peak_bytes);
        run.client = None;
    }
    files[1].cells[0].trials[0].phases[0].runs[1].client = Some(Resources::default());
    let text = text(&files, 100);
    let memory = headline(&text, "memory in full_profile: PostgreSQL to DuckDB");
    assert!(memory.contains("1.50x    at 100k: 150 MB / 100 MB"), "{memory}");
}

#[test]
fn what_a_crash_would_lose_is_that_of_the_worst_run() {
    let cell = ("duckdb", "offthread", "insert_offthread", 640_000, &[0.0, 6.4, 6.4][..]);
    let mut file = result("marending", "duckdb", &[cell]);
    for (run, (loss_rows, loss_ns)) in [(1, (1_500, 20_000_000)), (2, (900, 9_000_000))] {
        let buffer = WriteBehind { loss_rows, loss_ns, ..WriteBehind::default() };
        file.cells[0].trials[0].phases[0].runs[run].write_behind = Some(buffer);
    }
    let text = text(&[file], 100);
    let lost = headline(&text, "what a crash would lose at most of the buffer");
    assert!(lost.contains("-        1,500 rows, up to 20.0 ms old [b c d]"), "{lost}");
}

#[test]
fn a_total_has_the_time_of_each_operation_if_the_source_compares_those() {
    let sqlite = result(
        "mcknight",
        "sqlite",
        &[("sqlite-defaults", "commit-each", "insert", 25_000, &[0.0, 5.0])],
    );
    let text = text(&[sqlite], 100);
    let insert = headline(&text, "insert of 25,000 rows: SQLite's time");
    assert!(insert.contains("-        5.00 s, 200 µs each [a]"), "{insert}");
}

#[test]
fn a_busy_machine_is_named_at_the_figure() {
    let mut sqlite = result(
        "harperdb",
        "sqlite",
        &[
            ("sqlite-defaults-node-sqlite3", "commit-each", "insert_count", 1_000, &[0.0, 2.0]),
            ("sqlite-defaults-node-sqlite3", "commit-each", "insert_count", 5_000, &[0.0, 9.0]),
        ],
    );
    let set = |file: &mut ResultFile, cell: usize, cpu_ms: u64, total_cpu_ms: u64| {
        let (cpu_ns, total_cpu_ns) = (cpu_ms * 1_000_000, total_cpu_ms * 1_000_000);
        file.cells[cell].trials[0].background_cpu =
            Some(BackgroundCpu { cpu_ns, stolen_ns: 0, total_cpu_ns });
    };
    // 15 % is not named, 67 % is.
    set(&mut sqlite, 0, 150, 1_000);
    set(&mut sqlite, 1, 670, 1_000);
    let shown = text(slice::from_ref(&sqlite), 200);
    let pair = headline(&shown, "insert and count: SQLite at 5,000 rows");
    let busy = "9.00 s / 2.00 s [a], other programs took 67 % of the CPUs above the line";
    assert!(pair.contains(busy), "{pair}");
    let time = "insert and count: SQLite's time (printed: SQLite against HarperDB)";
    let of = |text: &str, rows: &str| headline(text, &format!("{time}, {rows}")).to_owned();
    let busy = "9.00 s [a], other programs took 67 % of the CPUs";
    assert!(of(&shown, "5k").contains(busy), "{shown}");
    assert!(!of(&shown, "1k").contains("other programs"), "{shown}");
    let every = markdown(slice::from_ref(&sqlite));
    assert!(every.contains("| 9.00 s (other programs took 67 % of the CPUs) |"), "{every}");
    // A trial of 50 ms on two CPUs is too short for a share: it has that of the whole result.
    set(&mut sqlite, 0, 90, 100);
    let shown = text(&[sqlite], 200);
    assert!(of(&shown, "1k").contains("other programs took 69 % of the CPUs"), "{shown}");
    let pair = headline(&shown, "insert and count: SQLite at 5,000 rows");
    let both = "other programs took 67 % of the CPUs above the line and 69 % below it";
    assert!(pair.contains(both), "{pair}");
}

#[test]
fn what_failed_says_how() {
    let duck = result("ulb", "duckdb", &[("duckdb", "csv", "load", 1_000, &[9.0, 2.0])]);
    let mut postgres =
        result("ulb", "postgres", &[("postgres", "csv", "load", 1_000, &[9.0, 1.0])]);
    let phase = &mut postgres.cells[0].trials[0].phases[0];
    phase.status = embermark_model::Status::Wrong;
    phase.reason = Some("a row is missing".into());
    let markdown = markdown(&[duck, postgres]);
    assert!(markdown.contains("-<br>wrong: a row is missing"), "{markdown}");
}

#[test]
fn the_document_has_every_source_and_no_figure_that_a_licence_forbids() {
    let markdown = markdown(&[]);
    for source in all() {
        assert!(markdown.contains(&format!("## {}: ", source.id)));
    }
    let harper = &markdown[markdown.find("## harperdb").unwrap()..];
    assert!(
        harper.contains("**9.01x**<br>21.0 s / 2.33 s")
            && harper.contains("HarperDB measured here")
    );
    assert!(markdown.contains("Zen 135 times faster"));
    assert!(markdown.contains("- **when** nothing was run"));
}

/// Loads the results from which docs/reproduction.md is made.
fn kept() -> Vec<ResultFile> {
    let mut results = Vec::new();
    for source in all() {
        let folder = format!("../../results/published/{}", source.id);
        for piece in std::fs::read_dir(folder).unwrap() {
            results.push(crate::load(&piece.unwrap().path().join("result.json")).unwrap());
        }
    }
    results
}

#[test]
fn a_conclusion_that_is_not_the_same_here_says_why_and_one_that_is_at_most_what_restricts_it() {
    let results = kept();
    let found = Results::new(&results);
    for source in all() {
        let rows = headlines::rows(source, &found);
        for verdict in &source.verdicts {
            let is_same = verdicts::answer(source, verdict, &rows) == verdicts::Answer::Same;
            let because = verdict.because.as_ref();
            let restricts = because.is_none_or(|because| because.starts_with("but "));
            assert_eq!(is_same, restricts, "{}: {}", source.id, verdict.says);
        }
    }
}

/// Returns the figures of a text that have a unit: `0.51x`, `1.18 s`.
fn figures_in(text: &str) -> BTreeSet<String> {
    const UNITS: [&str; 9] = ["ns", "µs", "ms", "s", "%", "kB", "MB", "kB/s", "kbit/s"];
    let is_number = |word: &str| {
        let is_part = |c: char| c.is_ascii_digit() || ",.".contains(c);
        word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(is_part)
    };
    let words = text.split(|c: char| c.is_whitespace() || "()[];:".contains(c));
    let words = words.map(|word| word.trim_end_matches(|c: char| ",.".contains(c)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_ratio = |word: &&&str| word.strip_suffix('x').is_some_and(is_number);
    let ratios = words.iter().filter(is_ratio).map(|word| (*word).to_owned());
    let is_amount = |pair: &&[&str]| is_number(pair[0]) && UNITS.contains(&pair[1]);
    let amounts = words.windows(2).filter(is_amount).map(|pair| pair.join(" "));
    ratios.chain(amounts).collect()
}

#[test]
fn figures_of_a_text_are_found() {
    let found =
        figures_in("as published 0.51x (1.18 s, at 100,000 rows: 3 % CPU); 15 minutes, 64 MiB.");
    assert_eq!(found.iter().collect::<Vec<_>>(), ["0.51x", "1.18 s", "3 %"]);
}

#[test]
fn a_figure_in_a_reason_or_an_explanation_is_that_of_a_headline() {
    let results = kept();
    let found = Results::new(&results);
    let mut checked = 0;
    for source in all() {
        let rows = headlines::rows(source, &found);
        let ratios = rows.iter().flat_map(|row| row.boxes.iter().flatten());
        let shown: BTreeSet<String> = ratios
            .flat_map(|ratio| {
                figures_in(&format!("{} {}", ratio.ratio_text().unwrap_or_default(), ratio.of))
            })
            .collect();
        let because = source.verdicts.iter().filter_map(|verdict| verdict.because.as_deref());
        let explained = source.headlines.iter().filter_map(|of| of.explained.as_deref());
        let beside = source
            .headlines
            .iter()
            .flat_map(|of| [&of.as_published, &of.equal, &of.counter, &of.client, &of.emulated]);
        let what = beside.flatten().filter_map(|beside| beside.what.as_deref());
        for text in because.chain(explained).chain(what) {
            for figure in figures_in(text) {
                assert!(shown.contains(&figure), "{}: {figure} in '{text}'", source.id);
                checked += 1;
            }
        }
    }
    assert!(checked > 0, "no text has a figure");
}

#[test]
fn a_server_that_had_written_nothing_has_no_score() {
    let text = markdown(&kept());
    let scores = &text[text.find("second), scores").unwrap()..];
    let after = |row: &str| {
        let mut lines = scores.lines().skip_while(|line| !line.starts_with(row)).skip(1);
        lines.next().unwrap().to_owned()
    };
    assert!(after("| mongodb bulk").contains("defaults | - | - | - |"), "{scores}");
    assert!(!after("| mariadb bulk").contains("defaults | - | - | - |"), "{scores}");
}

#[test]
fn the_title_of_a_table_of_the_source_has_the_samples_that_were_written() {
    let text = markdown(&kept());
    for table in ["IV, writing", "V, reading"] {
        let title = format!(
            "table {table} · machine · 40,000 samples · the servers' own settings · 30.0 s"
        );
        assert!(text.contains(&title), "no '{title}'");
    }
    let repeats = &text[text.find("highfreq: what repeats it").unwrap()..];
    assert!(repeats.contains("| 40,000 samples, a window of 30.0 s after 10.0 s |"), "{repeats}");
}
