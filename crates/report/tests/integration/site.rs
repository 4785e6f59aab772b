//! The data of a site: its content, that the site's tests get the same, and what it must not
//! contain.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use embermark_model::CellId;
use embermark_model::plan::Plan;
use embermark_model::result::{Cell, Counts, Machine, PhaseKind, ResultFile};
use embermark_report::html::WorkloadFacts;
use embermark_report::site::{self, Built, Program, Site, SiteOptions, SnippetKey};
use embermark_report::{ReportError, load};
use embermark_skips::skipped;
use serde_json::Value;

use crate::counted::counted;
use crate::network::over_a_link;

const FIXTURE: &str = "tests/fixtures/schema-1.json";

/// Input of the site's tests in `page/tests`. `EMBERMARK_WRITE_FIXTURES=1` rewrites it.
const SITE_FIXTURE: &str = "page/tests/fixtures/site";

fn program(of: &SnippetKey) -> Program {
    match &*of.engine {
        "sqlite" => Program::Text(format!("# sqlite from {} in {}\nopen()\n", of.client, of.tier)),
        "postgres" => Program::NotHere,
        _ => Program::None,
    }
}

fn options(forbidden: Vec<&'static str>) -> SiteOptions<'static> {
    SiteOptions {
        order: &["load", "read", "outages", "full_profile"],
        engines: BTreeMap::new(),
        workloads: vec![WorkloadFacts {
            id: "sensors".into(),
            about: "room sensors: ingest, point access, analytics".into(),
            phases: Vec::new(),
        }],
        forbidden,
        checked: false,
        durability: Default::default(),
        snippet: &program,
    }
}

/// Makes a result of a machine and a version that do not exist from the real one. Its trials are
/// repeated three times, and the seed changes every time.
fn result(machine: u64, version: u64) -> ResultFile {
    let mut file = counted(load(Path::new(FIXTURE)).unwrap());
    // The usual conditions.
    let Plan { memory_bytes, max_run_time_ms, .. } = Plan::default();
    (file.plan.memory_bytes, file.plan.max_run_time_ms) = (memory_bytes, max_run_time_ms);
    let manifest = &mut file.manifest;
    manifest.run_id = format!("made-up-{machine}-{version}");
    manifest.started = format!("2026-0{}-01T10:00:00Z", version + 1);
    manifest.machine.board = Some(format!("Made-up board {machine}"));
    manifest.warnings = vec!["made up for a test: nothing here was measured".into()];
    let mut seed = machine * 31 + version * 7 + 1;
    let mut luck = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        0.9 + (seed >> 40) as f64 / (1 << 24) as f64 / 5.0
    };
    for cell in &mut file.cells {
        let first = cell.trials.clone();
        for round in 1..3 {
            let more = first.iter().cloned().map(|mut trial| {
                trial.index += 100 * round;
                trial
            });
            cell.trials.extend(more);
        }
        for trial in &mut cell.trials {
            let engine = trial.version.clone().unwrap_or_default();
            trial.version = Some(format!("{engine}+{version}"));
            for phase in &mut trial.phases {
                let counts = match &*phase.phase {
                    "load" => Counts::Load,
                    "read" => Counts::Point,
                    _ => Counts::Analytics,
                };
                phase.kind = Some(PhaseKind { counts: Some(counts), ..PhaseKind::default() });
                phase.latency = None;
                if cell.id.engine == "sqlite" && phase.phase == "read" {
                    phase.plan = Some("QUERY PLAN\n`--SEARCH readings USING PRIMARY KEY".into());
                }
                for run in &mut phase.runs {
                    run.elapsed_ns = (run.elapsed_ns as f64 * luck() * (machine + 1) as f64) as u64;
                }
            }
        }
    }
    file
}

/// Builds a site of these results, each in a file with a name.
fn built(
    results: &[(&str, ResultFile)],
    forbidden: Vec<&'static str>,
) -> (tempfile::TempDir, Built) {
    let folder = tempfile::tempdir().unwrap();
    let mut site = Site::begin(&folder.path().join("site"), options(forbidden)).unwrap();
    for (name, result) in results {
        let path = folder.path().join(format!("{name}.json"));
        fs::write(&path, serde_json::to_vec(result).unwrap()).unwrap();
        let result = site.read(&path).unwrap();
        site.add(&path, &result).unwrap();
    }
    let built = site.finish().unwrap();
    (folder, built)
}

/// Returns every file below a folder, by its path in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            files.insert(path.strip_prefix(folder).unwrap().to_owned(), text);
        }
    }
    files
}

/// Returns what a data file passes to the page.
fn data(text: &str) -> (String, Value) {
    let inside = text.strip_prefix("embermark(").and_then(|rest| rest.strip_suffix(")\n")).unwrap();
    let (name, json) = inside.split_once(',').unwrap();
    (serde_json::from_str(name).unwrap(), serde_json::from_str(json).unwrap())
}

fn data_of(folder: &Path, name: &str) -> Value {
    let text = fs::read_to_string(folder.join(format!("site/data/{name}.js"))).unwrap();
    let (said, data) = data(&text);
    assert_eq!(said, name);
    data
}

/// Whether this build has the page. Without it there is no site.
fn is_built() -> bool {
    if !site::is_built() {
        skipped("page", "this build has none; make build");
    }
    site::is_built()
}

fn several() -> Vec<(&'static str, ResultFile)> {
    vec![
        ("pi-1", result(0, 0)),
        ("pi-2", result(0, 1)),
        ("nuc-1", result(1, 0)),
        ("nuc-2", result(1, 1)),
    ]
}

#[test]
fn the_sites_tests_are_given_what_this_version_writes() {
    if !is_built() {
        return;
    }
    let (folder, _) = built(&several(), Vec::new());
    let written = files(&folder.path().join("site/data"));
    if std::env::var_os("EMBERMARK_WRITE_FIXTURES").is_some() {
        let _ = fs::remove_dir_all(SITE_FIXTURE);
        for (path, text) in &written {
            let path = Path::new(SITE_FIXTURE).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    assert!(
        files(Path::new(SITE_FIXTURE)) == written,
        "what the site is given has changed: change page/src/site with it, and write {SITE_FIXTURE} with \
         EMBERMARK_WRITE_FIXTURES=1 cargo test -p embermark-report site"
    );
}

#[test]
fn machines_engines_and_tables_of_several_results_are_one_each() {
    if !is_built() {
        return;
    }
    let (folder, built) = built(&several(), Vec::new());
    let cells = result(0, 0).cells.len();
    assert_eq!(built, Built { results: 4, machines: 2, cells: 4 * cells });
    let index = data_of(folder.path(), "index");
    assert_eq!(index["machines"].as_array().unwrap().len(), 2);
    assert_eq!(index["shapes"].as_array().unwrap().len(), 1, "all have the same tables");
    let own: BTreeSet<String> = result(0, 0).cells.into_iter().map(|cell| cell.id.engine).collect();
    let names = index["engines"].as_array().unwrap().iter().map(|engine| engine["name"].as_str());
    assert_eq!(names.map(|name| name.unwrap().to_owned()).collect::<BTreeSet<_>>(), own);
    for group in index["groups"].as_array().unwrap() {
        assert_eq!(group["results"], 4, "{group}");
        // The engines that ran, without references.
        let own = |cell: &&Cell| {
            cell.id.scale.to_string() == group["scale"]
                && !cell.reference
                && !cell.trials.is_empty()
        };
        let ran: BTreeSet<String> =
            (result(0, 0).cells.iter().filter(own)).map(|cell| cell.id.engine.clone()).collect();
        assert!(ran.len() > 2);
        assert_eq!(group["engines"], ran.len(), "{group} {ran:?}");
    }
    let place = |name: &str| {
        index["engines"].as_array().unwrap().iter().position(|engine| engine["name"] == name)
    };
    let table = data_of(folder.path(), "table/0");
    let has = |name: &str| {
        let place = place(name).unwrap();
        table["engines"].as_array().unwrap().iter().any(|line| line["engine"] == place)
    };
    assert!(has("sqlite") && !has("mongodb"), "what was not installed has no line: {table}");
    let names: BTreeSet<String> = ["made-up-0-0", "made-up-1-1"].map(str::to_owned).into();
    let results: BTreeSet<String> = files(&folder.path().join("site/data/result"))
        .into_keys()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(results.is_superset(&names) && results.len() == 4, "{results:?}");
}

#[test]
fn a_virtual_machine_is_one_whether_or_not_its_result_says_that_it_is_one() {
    if !is_built() {
        return;
    }
    let boards = [None, Some("a virtual machine".to_owned())];
    let results = boards.into_iter().zip(["old", "new"]).zip(0..);
    let results: Vec<(&str, ResultFile)> = results
        .map(|((board, name), version)| {
            let mut file = result(0, version);
            file.manifest.machine.board = board;
            (name, file)
        })
        .collect();
    assert_eq!(built(&results, Vec::new()).1.machines, 1);
}

#[test]
fn figures_are_those_of_the_reports_tables() {
    if !is_built() {
        return;
    }
    let file = result(0, 0);
    let (folder, _) = built(&[("pi", file.clone())], Vec::new());
    let comparison = embermark_report::summary::compare(&file, options(Vec::new()).order);
    let mut seen = 0;
    for (at, group) in comparison.groups.iter().enumerate() {
        let shown = data_of(folder.path(), &format!("figures/made-up-0-0/{at}"));
        for (row, shown) in group.rows.iter().zip(shown["phases"].as_array().unwrap()) {
            for (entry, shown) in row.entries.iter().zip(shown["figures"].as_array().unwrap()) {
                let Some(measured) = entry.measured() else {
                    assert!(!shown.is_array(), "{shown}");
                    continue;
                };
                let near = |shown: &Value, value: Option<f64>| match value {
                    Some(value) => assert!((shown.as_f64().unwrap() / value - 1.0).abs() < 1e-4),
                    None => assert!(shown.is_null(), "{shown}"),
                };
                near(&shown[0], Some(row.time_ns(measured)));
                near(&shown[1], row.interval_ns(measured).map(|ends| ends[0]));
                near(&shown[3], measured.ratio);
                near(&shown[5], measured.ratio_interval.map(|ends| ends[1]));
                seen += 1;
            }
        }
    }
    assert!(seen > 40, "{seen}");
}

#[test]
fn a_mean_over_rows_is_over_the_first_and_questions_are_apart() {
    if !is_built() {
        return;
    }
    let (folder, _) = built(&several(), Vec::new());
    let groups = data_of(folder.path(), "index")["groups"].as_array().unwrap().len();
    for at in 0..groups {
        let group = data_of(folder.path(), &format!("figures/made-up-0-0/{at}"));
        for work in ["rows", "questions"] {
            let of_phases = group["phases"].as_array().unwrap().iter();
            let own = of_phases.filter(|phase| phase["work"] == work).count();
            let stands = group[work].as_array().unwrap().iter().filter(|one| one.is_array());
            for stands in stands {
                assert!(stands[5].as_u64().unwrap() as usize <= own, "{work}: {stands}");
                if stands[4] == stands[5] && !stands[0].is_null() && !stands[1].is_null() {
                    let [ratio, low, high] = [0, 1, 2].map(|at| stands[at].as_f64().unwrap());
                    assert!(low <= ratio && ratio <= high, "{stands}");
                }
            }
            let firsts = group[work].as_array().unwrap().iter().filter(|one| one[0] == 1);
            assert!(firsts.count() <= 2, "{group}");
        }
    }
}

#[test]
fn a_result_of_few_engines_takes_no_place_from_the_others() {
    if !is_built() {
        return;
    }
    // Later results of one engine: on a machine with a full result, and on one without.
    let part = |machine| {
        let mut file = result(machine, 1);
        file.cells.retain(|cell| cell.id.engine == "sqlite");
        file
    };
    let results = [("pi-1", result(0, 0)), ("pi-2", part(0)), ("nuc-1", part(1))];
    let (folder, _) = built(&results, Vec::new());
    for group in 0..2 {
        let table = data_of(folder.path(), &format!("table/{group}"));
        let machines = table["machines"].as_array().unwrap();
        let taken: Vec<_> = machines.iter().map(|machine| (&machine[0], &machine[1])).collect();
        assert_eq!(taken, [(&0.into(), &0.into())], "{table}");
    }
}

#[test]
fn the_same_results_make_the_same_site() {
    if !is_built() {
        return;
    }
    let [one, two] = [0, 1].map(|_| built(&several(), Vec::new()).0);
    assert!(files(&one.path().join("site")) == files(&two.path().join("site")));
}

#[test]
fn figures_that_may_not_be_published_are_in_no_file() {
    if !is_built() {
        return;
    }
    /// A time that the fixture does not have.
    const SECRET: u64 = 7_654_321_012;
    let mut file = result(0, 0);
    for cell in file.cells.iter_mut().filter(|cell| cell.id.engine == "lmdb") {
        for run in cell.trials.iter_mut().flat_map(|t| &mut t.phases).flat_map(|p| &mut p.runs) {
            run.elapsed_ns = SECRET;
        }
    }
    let holds = |forbidden: Vec<&'static str>, file: &ResultFile| {
        let (folder, _) = built(&[("pi", file.clone())], forbidden);
        files(&folder.path().join("site/data")).into_values().any(|text| text.contains("76543"))
    };
    assert!(holds(Vec::new(), &file), "the figure is one that is shown");
    // The licence forbids it, whatever the file states, and under any name.
    assert!(!holds(vec!["lmdb"], &file));
    let mut marked = file.clone();
    for cell in marked.cells.iter_mut().filter(|cell| cell.id.engine == "lmdb") {
        cell.unpublishable = true;
    }
    assert!(!holds(Vec::new(), &marked));
}

#[test]
fn the_same_run_twice_and_what_is_no_result_are_left_out_with_the_reason() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut site = Site::begin(&folder.path().join("site"), options(Vec::new())).unwrap();
    let path = |name: &str| folder.path().join(name);
    let good = serde_json::to_vec(&result(0, 0)).unwrap();
    let mut newer = serde_json::to_value(result(1, 0)).unwrap();
    newer["schema"] = 99.into();
    fs::write(path("good.json"), &good).unwrap();
    fs::write(path("copy.json"), &good).unwrap();
    fs::write(path("cut.json"), &good[..good.len() / 2]).unwrap();
    fs::write(path("foreign.json"), "{\"name\": \"a package\"}").unwrap();
    fs::write(path("newer.json"), newer.to_string()).unwrap();
    fs::write(path("deep.json"), "[".repeat(100_000)).unwrap();
    fs::create_dir(path("folder.json")).unwrap();
    let file = site.read(&path("good.json")).unwrap();
    site.add(&path("good.json"), &file).unwrap();
    for name in ["copy", "cut", "foreign", "newer", "deep", "folder"] {
        let error = site.read(&path(&format!("{name}.json"))).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(site.finish().unwrap().results, 1);
}

#[test]
fn only_a_site_is_replaced_and_nothing_else_is_left() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("site");
    let begin = || Site::begin(&out, options(Vec::new()));
    begin().unwrap().finish().unwrap();
    fs::write(out.join("data/stale.js"), "of another day").unwrap();
    begin().unwrap().finish().unwrap();
    assert!(!out.join("data/stale.js").exists() && out.join("index.html").exists());
    // An unfinished site leaves the old one in place.
    drop(begin().unwrap());
    assert!(out.join("index.html").exists());
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("thesis.txt"), "mine").unwrap();
    let refused = Site::begin(&own, options(Vec::new())).err().unwrap();
    assert!(matches!(refused, ReportError::NotASite(_)), "{refused}");
    assert_eq!(fs::read_to_string(own.join("thesis.txt")).unwrap(), "mine");
    let left: BTreeSet<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["own", "site"].map(Into::into).into());
}

#[test]
fn no_text_of_a_result_is_markup_a_path_or_obeyed() {
    const HOSTILE: &str =
        "../../x\u{1b}[2J\u{202e}</script><script>alert(1)</script>\"'`${1}\u{2028}\r\n=1+1";
    if !is_built() {
        return;
    }
    let mut value = serde_json::to_value(result(0, 0)).unwrap();
    fn spoil(value: &mut Value) {
        match value {
            Value::String(text) if text.len() > 20 || text.contains(' ') => {
                HOSTILE.clone_into(text)
            }
            Value::Array(all) => all.iter_mut().for_each(spoil),
            Value::Object(all) => all.values_mut().for_each(spoil),
            _ => {}
        }
    }
    spoil(&mut value["manifest"]);
    value["manifest"]["run_id"] = HOSTILE.into();
    let mut file: ResultFile = serde_json::from_value(value).unwrap();
    for cell in &mut file.cells {
        let CellId { workload, variant, engine, .. } = &mut cell.id;
        for text in [workload, variant, engine] {
            text.push_str(HOSTILE);
        }
        cell.reason = Some(HOSTILE.into());
        for trial in &mut cell.trials {
            trial.version = Some(HOSTILE.into());
            trial.settings.insert(HOSTILE.into(), HOSTILE.into());
            for phase in &mut trial.phases {
                phase.phase.push_str(HOSTILE);
                phase.plan = Some(HOSTILE.into());
            }
        }
    }
    let (folder, _) = built(&[("pi", file)], Vec::new());
    let outside: BTreeSet<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["pi.json", "site"].map(Into::into).into());
    let shown = files(&folder.path().join("site/data"));
    assert!(shown.len() > 4);
    for (path, text) in shown {
        let obeyed =
            |c: char| c == '<' || (c.is_control() && c != '\n') || "\u{202e}\u{2028}".contains(c);
        assert_eq!(text.find(obeyed), None, "{}", path.display());
        assert_eq!(text.matches('\n').count(), 1, "{}", path.display());
        let (name, _) = data(&text);
        assert_eq!(format!("{name}.js"), path.display().to_string());
    }
}

#[test]
fn figures_over_an_imitated_link_are_apart_and_are_repeated_over_it() {
    if !is_built() {
        return;
    }
    let results = [("over", over_a_link()), ("without", result(0, 0))];
    let (folder, _) = built(&results, Vec::new());
    let groups = &data_of(folder.path(), "index")["groups"];
    let conditions: BTreeSet<&str> = groups
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["conditions"].as_str().unwrap_or_default())
        .collect();
    let over = conditions.iter().filter(|text| text.contains("servers over imitated radio"));
    assert_eq!((over.count(), conditions.len()), (1, 2), "{conditions:?}");
    let commands: Vec<String> = files(&folder.path().join("site")).into_values().collect();
    let repeats = |words| commands.iter().filter(|text| text.contains(words)).count();
    assert!(
        repeats("--network radio") > 0 && repeats("embermark run") > repeats("--network radio")
    );
}

/// A condition as a site names it, and the change of a plain result that makes it.
type Condition = (&'static str, fn(&mut ResultFile));

#[test]
fn results_that_differ_in_a_condition_are_in_separate_tables() {
    if !is_built() {
        return;
    }
    let cases: &[Condition] = &[
        ("", |_| {}),
        ("4 clients", |file| file.plan.clients = 4),
        ("400 operations per second", |file| file.plan.target_rate = Some(400)),
        ("cold reads", |file| file.plan.cold = true),
        ("cache 256 MiB", |file| file.plan.memory_bytes = 256 << 20),
        ("runs of at most 60 ms", |file| file.plan.max_run_time_ms = Some(60)),
        ("windows of 20 ms", |file| file.plan.window_ms = Some(20)),
        ("warm-up of 9 s", |file| file.plan.warm_up_ms = Some(9_000)),
        ("on 2 client machines", |file| {
            let machines = ["a", "b"].map(|name| (name.to_owned(), Machine::default()));
            file.manifest.client_machines = machines.into();
        }),
    ];
    let result = |(place, &(_, change)): (usize, &Condition)| {
        let mut file = result(0, 0);
        file.manifest.run_id = format!("made-up-{place}");
        change(&mut file);
        (file.manifest.run_id.clone(), file)
    };
    let results: Vec<(String, ResultFile)> = cases.iter().enumerate().map(result).collect();
    let results: Vec<(&str, ResultFile)> =
        results.iter().map(|(name, file)| (&**name, file.clone())).collect();
    let (folder, _) = built(&results, Vec::new());
    let index = data_of(folder.path(), "index");
    let groups = index["groups"].as_array().unwrap();
    assert!(groups.iter().all(|group| group["results"] == 1), "{groups:?}");
    let shown = groups.iter().map(|group| group["conditions"].as_str().unwrap_or_default());
    assert_eq!(
        shown.collect::<BTreeSet<_>>(),
        cases.iter().map(|(condition, _)| *condition).collect()
    );
}
