//! Comparisons of two results.

use std::path::Path;

use embermark_model::plan::{Repeats, WorkloadFile};
use embermark_model::result::{DeviceIo, Drift, Emulated, ResultFile};
use embermark_model::{Configuration, Durability, MemoryLimit, Status};
use embermark_report::compare::{
    Change, Changes, Verdict, compare, csv, differences, json, markdown, table, unpoolable,
};
use embermark_report::{Format, Options, drift, load, render};

/// The golden result with three trials in every cell that has two: the two, and one between them.
fn file() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.manifest.machine.mount_options = Some("rw,noatime".into());
    for cell in file.cells.iter_mut().filter(|cell| cell.trials.len() == 2) {
        let mut third = cell.trials[0].clone();
        third.index = 2;
        for (phase, other) in third.phases.iter_mut().zip(&cell.trials[1].phases) {
            for (run, other) in phase.runs.iter_mut().zip(&other.runs) {
                run.elapsed_ns = u64::midpoint(run.elapsed_ns, other.elapsed_ns);
            }
        }
        cell.trials.push(third);
    }
    file
}

/// Makes a phase of an engine at 10k take `percent` of its time.
fn slow_down(file: &mut ResultFile, engine: &str, phase: &str, percent: u64) {
    let cells = file
        .cells
        .iter_mut()
        .filter(|cell| cell.id.engine == engine && cell.id.slug().contains("10k-process-single"));
    let trials = cells.flat_map(|cell| &mut cell.trials).flat_map(|trial| &mut trial.phases);
    for run in trials.filter(|part| part.phase == phase).flat_map(|part| &mut part.runs) {
        run.elapsed_ns = run.elapsed_ns * percent / 100;
    }
}

fn change<'a>(changes: &'a Changes, engine: &str, phase: &str) -> &'a Change {
    let of = |change: &&Change| {
        change.cell.engine == engine
            && change.phase == phase
            && change.cell.slug().contains("10k-process-single")
    };
    changes.phases.iter().find(of).unwrap()
}

#[test]
fn a_result_does_not_differ_from_itself() {
    let changes = compare(&file(), &file());
    assert!(changes.differences.incomparable.is_empty(), "{:?}", changes.differences);
    assert!(changes.turned.is_empty());
    assert!(changes.only_old.is_empty() && changes.only_new.is_empty());
    assert!(changes.phases.len() > 20);
    assert!(changes.phases.iter().all(|change| change.ratio == 1.0));
    let few =
        changes.phases.iter().filter(|change| change.verdict == Verdict::TooFewTrials).count();
    let equal = changes.phases.iter().filter(|change| change.verdict == Verdict::NoDifference);
    assert!(equal.count() + few == changes.phases.len() && few < 6, "{few} cells of one trial");
}

#[test]
fn a_slowdown_and_a_gain_are_shown() {
    let mut new = file();
    slow_down(&mut new, "sqlite", "read", 200);
    slow_down(&mut new, "lmdb", "read", 50);
    let changes = compare(&file(), &new);
    let slower = change(&changes, "sqlite", "read");
    assert_eq!(slower.verdict, Verdict::Slower);
    assert!((slower.ratio - 2.0).abs() < 1e-6 && slower.interval.unwrap()[0] > 1.0);
    assert_eq!(change(&changes, "lmdb", "read").verdict, Verdict::Faster);
}

#[test]
fn what_an_engine_used_is_shown_for_the_new_file_and_over_the_old_one() {
    let mut new = file();
    let own = new.cells.iter_mut().filter(|cell| cell.id.engine == "lmdb");
    let trials = own.flat_map(|cell| &mut cell.trials).flat_map(|trial| &mut trial.phases);
    for run in trials.flat_map(|part| &mut part.runs) {
        run.engine.cpu_ns = run.engine.cpu_ns.map(|ns| 3 * ns);
    }
    let changes = compare(&file(), &new);
    let times = |engine: &str| {
        let used = changes.used.iter().find(|used| used.cell.engine == engine).unwrap();
        used.new.get("cpu_ns").unwrap() / used.old.get("cpu_ns").unwrap()
    };
    assert_eq!([times("lmdb"), times("sqlite")], [3.0, 1.0]);
    let shown = table(&changes, &Options { width: 200, ..Options::default() });
    let (_, resources) = shown.split_once("resources, new and new/old").unwrap();
    let line = resources.lines().find(|line| line.contains("lmdb")).unwrap();
    assert!(line.contains("3.00x") && line.contains("1.00x"), "{line}");
}

#[test]
fn with_fewer_than_three_trials_nothing_is_called_slower() {
    let mut new = file();
    slow_down(&mut new, "sqlite", "read", 300);
    let mut old = file();
    old.cells.iter_mut().for_each(|cell| cell.trials.truncate(2));
    let changes = compare(&old, &new);
    let slower = change(&changes, "sqlite", "read");
    assert_eq!((slower.verdict, slower.interval), (Verdict::TooFewTrials, None));
}

#[test]
fn a_cell_that_was_right_and_is_wrong_or_failed_broke_and_on_the_way_back_it_did_not() {
    for status in [Status::Wrong, Status::Failed, Status::TimedOut] {
        let mut new = file();
        let cell = new.cells.iter_mut().find(|cell| cell.id.engine == "sqlite").unwrap();
        let part = cell.trials[1].phases.last_mut().unwrap();
        (part.status, part.reason) = (status, Some("row 1 of 2".into()));
        cell.status = status;
        let changes = compare(&file(), &new);
        let turn = &changes.turned[0];
        assert_eq!((turn.was, turn.is, turn.broke), (Status::Ok, status, true));
        assert_eq!(turn.reason.as_deref(), Some("row 1 of 2"));
        assert!(compare(&new, &file()).turned.iter().all(|turn| !turn.broke));
    }
}

#[test]
fn a_cell_that_never_came_to_a_phase_counts_too() {
    let mut new = file();
    let cell = new.cells.iter_mut().find(|cell| cell.id.engine == "sqlite").unwrap();
    (cell.status, cell.reason) = (Status::Failed, Some("cannot be opened".into()));
    cell.trials.clear();
    let changes = compare(&file(), &new);
    assert!(changes.turned[0].broke);
    assert_eq!(changes.turned[0].reason.as_deref(), Some("cannot be opened"));
    let cell = new.cells.iter_mut().find(|cell| cell.id.engine == "sqlite").unwrap();
    cell.status = Status::Unavailable;
    assert!(!compare(&file(), &new).turned[0].broke, "not installed");
}

#[test]
fn cells_of_one_file_only_are_listed() {
    let (mut old, mut new) = (file(), file());
    let gone = new.cells.remove(0);
    let mut added = old.cells.remove(5);
    added.id.durability = Durability::Power;
    new.cells.push(added.clone());
    let changes = compare(&old, &new);
    assert_eq!(changes.only_old, [gone.id]);
    assert!(changes.only_new.contains(&added.id));
    let shown = table(&changes, &Options { width: 120, ..Options::default() });
    assert!(shown.contains("In the old file only") && shown.contains("In the new file only"));
}

fn pi3(memory: &str) -> Emulated {
    let limits = [("memory.max".into(), memory.into())].into();
    Emulated { device: "pi3".into(), limits, storages: Vec::new() }
}

#[test]
fn other_limits_of_one_device_and_another_server_by_url_are_refused_and_no_secret_is_shown() {
    let of = |alter: fn(&mut ResultFile), other: fn(&mut ResultFile)| {
        let (mut old, mut new) = (file(), file());
        alter(&mut old);
        other(&mut new);
        differences(&old, &new).incomparable.join("\n")
    };
    let limits = of(
        |file| file.manifest.machine.emulates = Some(pi3("1")),
        |file| file.manifest.machine.emulates = Some(pi3("2")),
    );
    assert_eq!(limits, "emulated device: pi3 (memory.max 1), then pi3 (memory.max 2)");
    let servers = of(
        |file| drop(file.plan.urls.insert("postgres".into(), "postgres://a:secret@one/x".into())),
        |file| drop(file.plan.urls.insert("postgres".into(), "postgres://a:secret@two/x".into())),
    );
    assert_eq!(servers, "server of postgres: by URL at one, then by URL at two");
    assert_eq!(unpoolable(&file(), &file()), Vec::<String>::new());
}

#[test]
fn a_heading_says_what_ran_and_not_what_was_asked_for() {
    let (mut old, mut new) = (file(), file());
    (old.plan.runs, new.plan.runs) = (77, 77);
    let shown = |old: &ResultFile, new: &ResultFile| {
        table(&compare(old, new), &Options { width: 200, ..Options::default() })
    };
    let both = shown(&old, &new);
    assert!(both.contains("sensors 10k · durability process · single · 3 runs (1 warm-up) x"));
    assert!(both.contains("3 trials") && !both.contains("77"), "{both}");
    new.cells.iter_mut().for_each(|cell| cell.trials.truncate(1));
    let differ = shown(&old, &new);
    let says = "sensors 1k · durability process · single · old 3 runs (1 warm-up) x 3 trials, \
                new 3 runs (1 warm-up) x 1 trial\n";
    assert!(differ.contains(says), "{differ}");
}

/// A change to a result, and the difference that is reported for it.
type Case = (&'static str, fn(&mut ResultFile));

#[test]
fn results_that_were_not_measured_alike_are_refused_each_with_the_reason() {
    let cases: &[Case] = &[
        ("CPU:", |file| file.manifest.machine.cpu = Some("another".into())),
        ("number of CPUs:", |file| file.manifest.machine.cpus = Some(64)),
        ("memory:", |file| file.manifest.machine.memory_bytes = Some(64 << 30)),
        ("operating system:", |file| file.manifest.machine.os = Some("another".into())),
        ("file system:", |file| file.manifest.machine.file_system = Some("btrfs".into())),
        ("mount options:", |file| file.manifest.machine.mount_options = Some("sync".into())),
        ("emulated device:", |file| file.manifest.machine.emulates = Some(pi3("1073741824"))),
        ("disk of a trial:", |file| {
            for trial in file.cells.iter_mut().flat_map(|cell| &mut cell.trials) {
                trial.device_io = Some(DeviceIo::default());
            }
        }),
        ("server of postgres: private, then by URL at db.example:5432", |file| {
            let url = "postgres://me:secret@db.example:5432/one?password=secret";
            file.plan.urls.insert("postgres".into(), url.into());
        }),
        ("limit of commits' p99:", |file| file.plan.p99_limit_ms = 7),
        ("part of a published comparison: none, then ulb/duckdb", |file| {
            let (source, piece) = ("ulb".into(), "duckdb".into());
            file.plan.repeats = Some(Repeats { source, piece });
        }),
        ("build:", |file| file.manifest.tool.profile = "debug".into()),
        ("runs of a trial:", |file| file.plan.runs += 1),
        ("warm-up runs:", |file| file.plan.warmup_runs += 1),
        ("longest run time:", |file| file.plan.max_run_time_ms = None),
        ("time of a closed loop:", |file| file.plan.window_ms = Some(7)),
        ("clients:", |file| file.plan.clients = 4),
        ("target rate:", |file| file.plan.target_rate = Some(400)),
        ("cold reads: no, then yes", |file| file.plan.cold = true),
        ("no cell is in both", |file| {
            let limit = Some(MemoryLimit(256 << 20));
            file.cells.iter_mut().for_each(|cell| cell.id.memory_limit = limit);
        }),
        ("seed:", |file| file.plan.seed += 1),
        ("cache memory given to engines:", |file| file.plan.memory_bytes *= 2),
        ("data:", |file| file.plan.data = embermark_model::plan::DataSource::File("x".into())),
        ("rows of sensors:", |file| {
            file.manifest.datasets.get_mut("sensors").unwrap().sha256 = Some("abc".into());
        }),
        ("rows of sensors:", |file| file.manifest.datasets.get_mut("sensors").unwrap().rows += 1),
        ("no cell is in both", |file| {
            file.cells.iter_mut().for_each(|cell| cell.id.workload = "other".into());
        }),
    ];
    for &(saying, alter) in cases {
        let mut new = file();
        alter(&mut new);
        let reasons = differences(&file(), &new).incomparable;
        assert_eq!(reasons.len(), 1, "{saying} {reasons:?}");
        assert!(reasons[0].starts_with(saying), "{saying} {reasons:?}");
    }
}

#[test]
fn other_versions_commits_kernels_and_trials_are_remarked_and_compared() {
    let mut new = file();
    new.manifest.tool.commit = Some("4567def".into());
    new.manifest.machine.kernel = Some("Linux 6.2".into());
    new.manifest.run_id = "another".into();
    new.plan.trials = 5;
    for trial in new.cells.iter_mut().flat_map(|cell| &mut cell.trials) {
        trial.version = trial.version.as_ref().map(|version| format!("{version}.1"));
    }
    let found = differences(&file(), &new);
    assert_eq!(found.incomparable, Vec::<String>::new());
    let pooled = unpoolable(&file(), &new);
    assert!(pooled.contains(&"version of sqlite: 3.50.4, then 3.50.4.1".to_owned()), "{pooled:?}");
    for saying in ["embermark:", "kernel:", "trials:", "sqlite: 3.50.4, then 3.50.4.1"] {
        assert!(
            found.remarks.iter().any(|remark| remark.starts_with(saying)),
            "{saying} {found:?}"
        );
    }
}

#[test]
fn what_one_file_does_not_record_is_remarked_and_no_difference() {
    let mut new = file();
    new.manifest.machine.cpu = None;
    let found = differences(&file(), &new);
    assert!(found.incomparable.is_empty());
    assert!(found.remarks.iter().any(|r| r == "CPU is not recorded in the new file"), "{found:?}");
    let mut kernel = file();
    let memory = kernel.manifest.machine.memory_bytes.as_mut().unwrap();
    *memory += *memory / 200;
    assert!(differences(&file(), &kernel).incomparable.is_empty(), "another kernel's own share");
}

#[test]
fn every_form_shows_the_same_changes() {
    let mut new = file();
    slow_down(&mut new, "sqlite", "read", 200);
    let changes = compare(&file(), &new);
    let shown = table(&changes, &Options { width: 120, ..Options::default() });
    let line = shown.lines().find(|line| line.starts_with("sqlite read") && line.contains("2.00x"));
    assert!(line.unwrap().ends_with("slower"), "{shown}");
    assert!(shown.starts_with("New against old: 1 slower, 0 faster"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 120), "{shown}");
    let marked = markdown(&changes);
    assert!(marked.lines().any(|line| line.starts_with("| sqlite read") && line.contains("2.00x")));
    let value: serde_json::Value = serde_json::from_str(&json(&changes).unwrap()).unwrap();
    let slower = value["phases"].as_array().unwrap().iter().find(|c| c["verdict"] == "slower");
    assert_eq!(slower.unwrap()["phase"], "read");
    let csv = csv(&changes).unwrap();
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), changes.phases.len());
    let slower: Vec<_> = rows.iter().filter(|row| &row[6] == "slower").collect();
    assert_eq!((slower.len(), &slower[0][5]), (1, "read"));
}

/// Makes a result whose first trial was repeated and took `percent` of its time.
fn drifted(percent: u64) -> ResultFile {
    let mut file = file();
    let cell = &file.cells[0];
    let mut again = cell.trials[0].clone();
    for run in again.phases.iter_mut().flat_map(|phase| &mut phase.runs) {
        run.elapsed_ns = run.elapsed_ns * percent / 100;
    }
    file.manifest.drift = Some(Drift { cell: cell.id.clone(), first: 0, again });
    file
}

#[test]
fn drift_is_printed_and_warned_of_when_it_is_beyond_the_trials_own_differences() {
    let shown = |file: &ResultFile| {
        render(file, Format::Table, &Options { width: 500, ..Options::default() }).unwrap()
    };
    let much = drifted(130);
    let of_much = drift::drift(&much).unwrap();
    assert!((of_much.ratio - 1.3).abs() < 1e-3 && of_much.is_notable(), "{of_much:?}");
    assert!(
        shown(&much).contains("the machine drifted: sqlite sensors 1k process single took 30.0 %")
    );
    let little = drifted(101);
    assert!(!drift::drift(&little).unwrap().is_notable());
    assert!(!shown(&little).contains("the machine drifted"));
    assert!(shown(&little).contains("more time at the end than at the beginning"));
    assert_eq!(drift::drift(&file()), None);
    let remarks = differences(&file(), &much).remarks;
    assert!(remarks.iter().any(|r| r.contains("drifted in the new run")), "{remarks:?}");
}

#[test]
fn a_drift_of_an_engine_that_may_not_be_published_is_left_out_with_it() {
    let mut file = drifted(130);
    file.cells[0].unpublishable = true;
    assert!(file.clone().publishable().manifest.drift.is_none());
    file.cells[0].unpublishable = false;
    assert!(file.publishable().manifest.drift.is_some());
}

#[test]
fn figures_that_may_not_be_published_are_announced_on_the_face() {
    let mut new = file();
    for cell in new.cells.iter_mut().filter(|cell| cell.id.engine == "lmdb") {
        cell.unpublishable = true;
    }
    let changes = compare(&file(), &new);
    let options = Options { width: 120, ..Options::default() };
    for shown in [table(&changes, &options), markdown(&changes)] {
        let face = shown.lines().next().unwrap();
        assert!(face.contains("NOT TO BE PUBLISHED") && face.contains("lmdb"), "{shown}");
    }
    let csv = csv(&changes).unwrap();
    for row in ::csv::Reader::from_reader(csv.as_bytes()).records().map(Result::unwrap) {
        assert_eq!(&row[13] == "false", &row[4] == "lmdb");
    }
    let (old, new) = (file().publishable(), new.publishable());
    assert!(!table(&compare(&old, &new), &options).contains("NOT TO BE PUBLISHED"));
}

#[test]
fn what_cannot_be_compared_says_so_before_anything_else() {
    let mut new = file();
    new.manifest.machine.cpu = Some("another CPU".into());
    new.cells.iter_mut().for_each(|cell| cell.unpublishable = true);
    let changes = compare(&file(), &new);
    let options = Options { width: 120, ..Options::default() };
    let shown = table(&changes, &options);
    assert!(shown.starts_with("NOT COMPARABLE, looked at all the same (--force)\n"), "{shown}");
    assert!(shown.lines().nth(1).unwrap().contains("another CPU"), "{shown}");
    assert!(markdown(&changes).starts_with("### NOT COMPARABLE"), "{}", markdown(&changes));
    assert_eq!(shown.matches("NOT COMPARABLE").count(), 1, "{shown}");
}

#[test]
fn another_library_of_a_configuration_compares_and_other_settings_do_not() {
    let with = |library: &str, sync: &str| {
        let mut file = file();
        let settings = [("synchronous".to_owned(), sync.to_owned())].into();
        let library = Some(library.into());
        let own = Configuration { engine: "sqlite".into(), settings, library, client: None };
        file.plan.configurations.insert("mine".into(), own);
        file
    };
    let differ = differences(&with("/old", "OFF"), &with("/new", "OFF"));
    assert!(differ.incomparable.is_empty(), "{differ:?}");
    assert!(differ.remarks.contains(&"library of mine: /old, then /new".to_owned()), "{differ:?}");
    let mut python = with("/old", "OFF");
    python.plan.configurations.get_mut("mine").unwrap().client = Some("python".parse().unwrap());
    let differ = differences(&with("/old", "OFF"), &python);
    assert!(differ.incomparable.is_empty(), "{differ:?}");
    assert!(differ.remarks.contains(&"client of mine: native, then python".to_owned()));
    let apart = embermark_report::compare::unpoolable(&with("/old", "OFF"), &python);
    assert_eq!(apart, ["client of mine: native, then python"]);
    let differ = differences(&with("/old", "OFF"), &with("/old", "FULL")).incomparable;
    let says = "configuration mine: sqlite with synchronous=OFF, then sqlite with synchronous=FULL";
    assert_eq!(differ, [says]);
}

#[test]
fn other_phases_of_a_workload_file_and_a_weaker_durability_are_not_compared() {
    let with = |text: &str| {
        let mut file = file();
        let own = WorkloadFile {
            text: text.to_owned(),
            folder: "/".into(),
            misfits_per_million: 10_000,
            criteria: Default::default(),
        };
        file.plan.workload_files.insert("weather".to_owned(), own);
        file
    };
    let text =
        "name = 'weather'\n[table.w]\nfile = 'a.csv'\n[phase.last]\ndo = 'range'\nlast = '1d'\n";
    let found = |new: &str| differences(&with(text), &with(new));
    let same = text.replace("a.csv", "b.csv") + "# only a comment\n";
    assert!(found(&same).incomparable.is_empty());
    let other = found(&text.replace("1d", "1h")).incomparable;
    assert_eq!(other, ["workload file weather: another [phase.last]"]);
    let more = found(&format!("{text}[phase.load]\ndo = 'insert'\n"));
    assert!(more.incomparable.is_empty());
    let says = "workload file weather: only the new one has [phase.load]";
    assert!(more.remarks.iter().any(|remark| remark == says), "{more:?}");

    let mut weaker = file();
    for cell in weaker.cells.iter_mut().filter(|cell| cell.id.engine == "sqlite") {
        cell.effective_durability = Some(Durability::None);
        for trial in &mut cell.trials {
            trial.settings.insert("synchronous".to_owned(), "OFF".to_owned());
        }
    }
    let mut stronger = file();
    for trial in stronger.cells.iter_mut().flat_map(|cell| &mut cell.trials) {
        trial.settings.insert("synchronous".to_owned(), "NORMAL".to_owned());
    }
    let found = differences(&stronger, &weaker);
    let says = "durability of sqlite at process: process, then none".to_owned();
    assert!(found.incomparable.contains(&says), "{found:?}");
    let says = "settings of sqlite at process: synchronous NORMAL, then OFF".to_owned();
    assert!(found.remarks.contains(&says), "{found:?}");
}
