//! The files of the program and of its documentation are valid.

use embermark_language::{
    BUILT_IN, Commit, Definition, KeysOf, PUBLISHED, Pace, Set, Span, Work, parse,
};
use embermark_model::result::Counts;
use embermark_model::table::{MakeKind, RowsFrom};

const ENGINES: [&str; 2] = ["sqlite", "duckdb"];

fn read(file: &str, text: &str) -> Definition {
    parse(file, text, &ENGINES).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn built_in(name: &str) -> Definition {
    let (_, text) = BUILT_IN.iter().find(|(file, _)| *file == name).expect("a name");
    read(name, text)
}

#[test]
fn a_name_is_as_long_as_the_names_of_a_runs_files_allow() {
    let (_, text) = BUILT_IN[0];
    let named = |name: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("name ="));
        let head = if name.is_empty() { String::new() } else { format!("name = \"{name}\"") };
        [head].into_iter().chain(lines.map(str::to_owned)).collect::<Vec<_>>().join("\n")
    };
    let long = "n".repeat(65);
    assert_eq!(read("x.toml", &named(&long[1..])).name, long[1..]);
    assert_eq!(read(&format!("{long}.toml"), &named("")).name, long[1..]);
    let refused = parse("x.toml", &named(&long), &[]).unwrap_err().to_string();
    assert!(refused.contains("a name that is too long"), "{refused}");
}

#[test]
fn every_built_in_file_is_right_and_has_its_own_name() {
    for (name, text) in BUILT_IN {
        assert_eq!(read("another.toml", text).name, *name);
    }
    // Published workloads are named by their file.
    for (name, text) in PUBLISHED {
        assert_eq!(read(name, text).name, *name);
    }
}

#[test]
fn every_example_of_the_documentation_is_right() {
    let page = include_str!("../../../../docs/workload-files.md");
    let examples = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    // Others are only a table.
    let examples: Vec<_> = examples.filter(|example| example.contains("[phase.")).collect();
    assert_eq!(examples.len(), 4);
    for example in examples {
        assert!(read("example.toml", example).phases.len() > 4);
    }
}

/// The shares of a file's mix, by the names of their phases.
fn shares(file: &Definition) -> Vec<(&str, f64)> {
    let Work::Mix(mix) = &file.phases.last().expect("a phase").work else {
        panic!("no mix: {file:#?}")
    };
    assert_eq!((mix.clients, mix.lasts, mix.ops), (1, None, 100_000));
    let share = |pace| match pace {
        Pace::Share(share) => share,
        Pace::Rate(_) => panic!("a rate"),
    };
    mix.parts.iter().map(|part| (&*file.phases[part.phase].name, share(part.pace))).collect()
}

#[test]
fn ycsb_is_as_published() {
    for (name, parts) in [
        ("ycsb-a", vec![("read", 0.5), ("update", 0.5)]),
        ("ycsb-b", vec![("read", 0.95), ("update", 0.05)]),
        ("ycsb-d", vec![("read", 0.95), ("insert", 0.05)]),
        ("ycsb-e", vec![("scan", 0.95), ("insert", 0.05)]),
        ("ycsb-f", vec![("read", 0.5), ("read-modify-write", 0.5)]),
    ] {
        assert_eq!(shares(&built_in(name)), parts, "{name}");
    }
    let zipfian = KeysOf::Zipfian { skew: 0.99 };
    for name in ["a", "b", "c", "d", "e", "f"] {
        let file = built_in(&format!("ycsb-{name}"));
        let [table] = &file.tables[..] else { panic!("{:#?}", file.tables) };
        assert_eq!(
            (&table.rows, &table.key[..], table.columns.len()),
            (&RowsFrom::Made(100_000), &[0][..], 11)
        );
        let made: Vec<_> =
            table.columns.iter().map(|column| &column.make.as_ref().unwrap().kind).collect();
        assert_eq!(made[0], &MakeKind::Hashed { prefix: "user".to_owned() });
        assert!(made[1..].iter().all(|kind| **kind == MakeKind::Random { from: 100, to: 100 }));
        for phase in &file.phases {
            let (keys, set) = match &phase.work {
                Work::Get { keys, .. } => (keys, None),
                Work::Update { keys, set, .. } | Work::ReadModifyWrite { keys, set, .. } => {
                    (keys, Some(set))
                }
                Work::Range(range) => {
                    assert_eq!(range.span, Span::Rows { from: 1, to: 100 });
                    (&range.keys, None)
                }
                _ => continue,
            };
            let right = if name == "d" { KeysOf::Newest { skew: 0.99 } } else { zipfian };
            assert_eq!((keys.of, keys.absent), (right, 0.0), "{name}");
            assert!(set.is_none_or(|set| *set == Set::OneOf((1..=10).collect())), "{name}");
        }
    }
}

#[test]
fn a_phase_is_what_it_does_in_its_variant() {
    let file = read(
        "x.toml",
        "
        [table.readings]
        rows = 10
        key = [\"id\"]
        [table.readings.columns]
        id = { type = \"u32\", make = \"sequence\" }
        temp = { type = \"f64\", make = \"random\" }
        [phase.load]
        do = \"insert\"
        [phase.change]
        do = \"update\"
        commit = 10
        [phase.mean]
        do = \"group\"
        compute = [\"avg(temp)\"]
        ",
    );
    let kind = |place: usize, commit| {
        let kind = file.kind(&file.phases[place], commit);
        (kind.counts, kind.of_rows, kind.many_in_a_transaction)
    };
    let [load, change, mean] = [0, 1, 2];
    assert_eq!(kind(load, None), (Some(Counts::Ingest), true, false));
    assert_eq!(kind(load, Some(Commit::Bulk)), (Some(Counts::Load), true, false));
    assert_eq!(kind(load, Some(Commit::Rows(10_000))), (Some(Counts::Load), true, true));
    assert_eq!(kind(change, None), (Some(Counts::Update), true, true));
    assert_eq!(kind(change, Some(Commit::Each)), (Some(Counts::Update), true, false));
    // Changes have no bulk path.
    assert_eq!(kind(change, Some(Commit::Bulk)), kind(change, None));
    assert_eq!(kind(mean, Some(Commit::Bulk)), (Some(Counts::Analytics), false, false));
    let (name, text) = PUBLISHED.iter().find(|(name, _)| *name == "retention").unwrap();
    let kept = read(name, text);
    let keep = kept.phases.iter().find(|phase| phase.alone).unwrap();
    assert_eq!(kept.kind(keep, None).counts, Some(Counts::SteadyLatency));
}
