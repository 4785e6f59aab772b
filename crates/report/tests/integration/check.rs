//! Rules for results that may be published, and the content of an anonymous result.

use std::path::Path;

use embermark_model::plan::{DataSource, WorkloadFile};
use embermark_model::result::{BackgroundCpu, Drift, Machine, ResultFile, Wear};
use embermark_model::{Configuration, EngineLibrary, Status};
use embermark_report::check::{
    Anonymous, Checked, Finding, Private, anonymous, check, json, may_be_published, table,
};
use embermark_report::{Format, Options, load, render};

/// The golden result with everything that a result has today, and with trials that differ little.
fn good() -> ResultFile {
    let mut file = load(Path::new("tests/fixtures/schema-1.json")).unwrap();
    file.manifest.tool.commit = Some("0123abcd".into());
    file.cells.retain(|cell| cell.status.has_figures());
    let floor = file.manifest.floor.as_mut().unwrap();
    floor.phases.insert("sensors".into(), [("read".into(), 4.0)].into());
    for cell in &mut file.cells {
        cell.lost_trials.clear();
        let first = cell.trials[0].clone();
        cell.trials = (0..3).map(|index| trial(&first, index)).collect();
    }
    file
}

fn trial(first: &embermark_model::result::Trial, index: u32) -> embermark_model::result::Trial {
    let mut trial = first.clone();
    trial.index = index;
    trial.settings.insert("sync".into(), "off".into());
    let background = BackgroundCpu { cpu_ns: 10, stolen_ns: 1, total_cpu_ns: 1_000 };
    trial.background_cpu = Some(background);
    for run in trial.phases.iter_mut().flat_map(|part| &mut part.runs) {
        run.elapsed_ns += run.elapsed_ns * u64::from(index) / 100;
    }
    trial
}

#[track_caller]
fn failed(file: &ResultFile) -> Vec<&'static str> {
    let answers = check(file);
    let failed = answers.iter().filter(|answer| matches!(answer.finding, Finding::Failed(_)));
    let failed: Vec<&str> = failed.map(|answer| answer.rule).collect();
    assert_eq!(may_be_published(&answers), failed.is_empty());
    failed
}

#[test]
fn a_good_result_may_stand_and_what_it_does_not_record_is_not_known() {
    let file = good();
    assert_eq!(failed(&file), Vec::<&str>::new(), "{:?}", check(&file));
    let drift = |file: &ResultFile| {
        let answer = check(file).into_iter().find(|answer| answer.rule == "drift").unwrap();
        let Finding::NotKnown(why) = answer.finding else { panic!("it is known") };
        why
    };
    assert_eq!(drift(&file), "the first trial was not repeated");
    let mut limited = file;
    limited.plan.lasts_ms = Some(300_000);
    assert!(drift(&limited).contains("--for"), "{}", drift(&limited));
    let options = Options { width: 200, ..Options::default() };
    let shown = render(&limited, Format::Table, &options).unwrap();
    assert!(shown.contains("not known: a run of a limited time (--for)"), "{shown}");
}

/// A rule, and a change to a result that breaks it.
type Case = (&'static str, fn(&mut ResultFile));

#[test]
fn each_rule_fails_where_it_is_broken_and_alone() {
    let cases: [Case; 21] = [
        ("schema", |file| file.schema = 3),
        ("complete", |file| file.manifest.finished = None),
        ("complete", |file| file.cells[0].status = Status::NotRun),
        ("version", |file| file.manifest.tool.version = "99.0.0".into()),
        ("version", |file| file.manifest.tool.version = "<b>".into()),
        ("clean-tree", |file| file.manifest.tool.commit = Some("0123abcd-dirty".into())),
        ("clean-tree", |file| file.manifest.tool.commit = None),
        ("clean-tree", |file| file.manifest.tool.commit = Some("\u{1b}[31m".into())),
        ("release-build", |file| file.manifest.tool.profile = "debug".into()),
        ("machine", |file| file.manifest.machine.cpu = None),
        ("machine", |file| {
            file.manifest.machine.file_system = Some("tmpfs".into());
            file.cells[0].id.durability = embermark_model::Durability::Power;
        }),
        ("answers", |file| file.cells[1].trials[0].phases[0].status = Status::Wrong),
        ("answers", |file| file.cells[0].trials[0].phases[0].status = Status::Disputed),
        ("answers", |file| {
            let by = Some("unchecked: no other engine has answered".to_owned());
            file.cells[0].trials[0].phases[0].checked_by = by;
        }),
        ("floor", |file| file.manifest.floor = None),
        ("load", |file| {
            for trial in file.cells.iter_mut().flat_map(|cell| &mut cell.trials) {
                trial.background_cpu.as_mut().unwrap().cpu_ns = 400;
            }
        }),
        ("drift", |file| {
            let mut again = file.cells[0].trials[0].clone();
            for run in again.phases.iter_mut().flat_map(|part| &mut part.runs) {
                run.elapsed_ns *= 2;
            }
            let first = file.cells[0].trials[0].index;
            file.manifest.drift = Some(Drift { cell: file.cells[0].id.clone(), first, again });
        }),
        ("spread", |file| {
            for trial in file.cells.iter_mut().flat_map(|cell| &mut cell.trials) {
                for run in trial.phases.iter_mut().flat_map(|part| &mut part.runs) {
                    run.elapsed_ns *= u64::from(1 + trial.index);
                }
            }
        }),
        ("spread", |file| file.cells.iter_mut().for_each(|cell| cell.trials.truncate(2))),
        ("settings", |file| file.cells[0].trials[1].settings.clear()),
        ("licences", |file| file.cells[0].unpublishable = true),
    ];
    for (rule, spoil) in cases {
        let mut file = good();
        spoil(&mut file);
        assert_eq!(failed(&file), [rule]);
        let shown = [Checked::new("r\u{1b}.json".into(), check(&file), Vec::new())];
        let text = table(&shown, &Options { width: 100, ..Options::default() });
        assert!(text.contains("may not be published") && text.contains("FAILED"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        let value: serde_json::Value = serde_json::from_str(&json(&shown).unwrap()).unwrap();
        assert_eq!(value[0]["may_stand"], false);
    }
    let mut secret = good();
    secret.cells[0].unpublishable = true;
    assert_eq!(failed(&secret.publishable()), Vec::<&str>::new());
}

#[test]
fn a_finished_run_without_figures_is_not_to_be_resumed() {
    let mut file = good();
    for cell in &mut file.cells {
        cell.status = Status::Failed;
        let parts = cell.trials.iter_mut().flat_map(|trial| &mut trial.phases);
        parts.for_each(|part| part.status = Status::Failed);
    }
    assert_eq!(failed(&file), ["figures", "spread"]);
    let answers = check(&file);
    let mut broken = answers.iter().filter(|of| matches!(of.finding, Finding::Failed(_)));
    assert!(broken.all(|of| !of.remedy.contains("--resume")), "{answers:?}");
}

#[test]
fn an_anonymous_result_has_nothing_of_who_and_where_and_says_what_is_left() {
    let mut file = good();
    let private = "/home/anna/secret";
    file.manifest.machine = Machine {
        board: Some("ExampleBoard".into()),
        device: Some("/dev/secret".into()),
        mount_options: Some("rw,noatime,subvol=/secret,resuid=65534".into()),
        ..file.manifest.machine.clone()
    };
    file.manifest.warnings = vec![format!("nothing fits into {private}; free some on secret-host")];
    file.manifest.wear = Some(Wear { disk: Some("/dev/secret".into()), ..Wear::default() });
    file.manifest.client_machines = [("secret-pi".to_owned(), Machine::default())].into();
    file.manifest.datasets.get_mut("sensors").unwrap().file = Some(private.into());
    let plan = &mut file.plan;
    // A path that can be told from the words around it only if it is known.
    plan.data = DataSource::File("/srv/Acme is secret".into());
    file.manifest.warnings.push("no room in /srv/Acme is secret; free some".into());
    plan.urls.insert("postgres".into(), "postgres://anna:secret@secret-host/secret".into());
    let library = Some(format!("{private}/duckdb").into());
    let client = Some(format!("{private}/client").parse().unwrap());
    let own =
        Configuration { engine: "sqlite".into(), settings: Default::default(), library, client };
    plan.configurations.insert("old".into(), own);
    let library =
        EngineLibrary { path: format!("{private}/libmine.so").into(), sha256: "ab".into() };
    plan.engine_libraries.insert("mine".into(), library);
    let text = format!("[table.rows]\nfile = \"{private}/rows.csv\"\n");
    let (folder, criteria) = (private.into(), Default::default());
    let own = WorkloadFile { text, folder, misfits_per_million: 0, criteria };
    plan.workload_files.insert("shop".into(), own);
    plan.network = crate::network::over_a_link().plan.network;
    let trial = &mut file.cells[0].trials[0];
    trial.log = Some("logs/secret".into());
    trial.settings.insert("data_directory".into(), private.into());
    file.cells[0].reason = Some("secret-host refused anna".into());

    // The user can have the name of an engine.
    let engine = file.cells[0].id.engine.clone();
    let names = ["secret-host", "anna", &engine].map(str::to_owned).into();
    let known = Private { names, paths: vec!["/tmp/secret run".into()] };
    file.manifest.warnings.push("/tmp/secret run is full".into());
    let Anonymous { file: made, left } = anonymous(&file, &known).unwrap();
    assert_eq!(made.manifest.warnings[1..], ["no room in (path); free some", "(path) is full"]);
    let text = serde_json::to_string(&made).unwrap();
    for hidden in ["secret", "anna", "/home", "65534"] {
        assert_eq!(text.find(hidden).map(|at| &text[at.saturating_sub(60)..at + 20]), None);
    }
    let says: Vec<String> =
        left.iter().map(|note| format!("{} {}", note.about, note.says)).collect();
    let says = says.join("\n");
    for kept in
        ["ExampleBoard", "Example CPU", "rw,noatime", "libmine.so", "shop", "duckdb", "radio"]
    {
        assert!(says.contains(kept), "{kept}: {says}");
    }
    // The measurements are kept, and the file can be read.
    let ids = |file: &ResultFile| file.cells.iter().map(|cell| cell.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&made), &made.plan.engines), (ids(&file), &file.plan.engines));
    assert_eq!(failed(&made), ["settings"], "a server by its URL");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("anonymous.json");
    std::fs::write(&path, text).unwrap();
    assert_eq!(load(&path).unwrap().cells.len(), file.cells.len());
}
