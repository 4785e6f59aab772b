//! Defaults of a file, and what it may specify.

use std::time::Duration;

use embermark_language::{
    Aggregate, Bound, Commit, Compute, Correlate, Count, Definition, Group, Grouped, Having, Keys,
    KeysOf, Mix, Operator, OrderBy, Pace, Part, Query, Range, Removed, Sequence, Set, Snapshot,
    Span, Work, parse, time_column,
};
use embermark_model::table::{
    Column, ColumnType, Field, Make, MakeKind, OwnedValue, RowsFrom, Table, TimeUnit, Within,
};

fn read(text: &str) -> Definition {
    parse("my weather.toml", text, &["sqlite", "duckdb"]).unwrap_or_else(|m| panic!("{m}"))
}

const READINGS: &str = r#"
[table.readings]
file = "readings.csv"
key = ["station", "time"]
[table.readings.columns]
station = { type = "u16", from = "Station ID" }
time = { type = "timestamp", unit = "ms" }
temp = "f64?"
note = { type = "text", absent = true }
"#;

/// The works of phases of [`READINGS`].
fn works(phases: &str) -> Vec<Work> {
    read(&format!("{READINGS}{phases}")).phases.into_iter().map(|phase| phase.work).collect()
}

/// The work of a phase of [`READINGS`].
fn work(keys: &str) -> Work {
    works(&format!("[phase.p]\n{keys}")).remove(0)
}

const KEYS: Keys = Keys { ops: Count::Exactly(1_000), of: KeysOf::Uniform, absent: 0.0, rows: 1 };

#[test]
fn a_file_has_its_name_where_it_says_none() {
    let file = read(&format!("{READINGS}[phase.b]\ndo = \"insert\"\n[phase.a]\ndo = \"get\""));
    assert_eq!(file.name, "my-weather");
    assert_eq!(file.about, "readings from readings.csv");
    let names: Vec<_> = file.phases.iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["b", "a"]);
    assert!(file.phases.iter().all(|phase| phase.alone));
    assert_eq!(file.phases[0].about, "inserts every row of readings, one commit each");
    let named = read(&format!(
        "name = \"a b c\"\nabout = \"d\"\n{READINGS}[phase.p]\ndo = \"insert\"\nabout = \"e\""
    ));
    assert_eq!((&*named.name, &*named.about, &*named.phases[0].about), ("a-b-c", "d", "e"));
}

#[test]
fn a_name_with_a_range_is_many_columns() {
    let text = "[table.log]\nrows = 100\nkey = [\"time\"]\n[table.log.columns]\n\
        time = { type = \"timestamp\", unit = \"ms\", make = \"sequence\", step = \"1ms\" }\n\
        \"v[8..11]\" = { type = \"u16?\", make = \"random\", from = 0, to = 9 }\n\
        \"t[0..0]\" = { type = \"u8\", make = \"cycle\", distinct = 2 }\n\
        [phase.p]\ndo = \"update\"\nset = [\"v10\"]";
    let table = &read(text).tables[0];
    let names: Vec<_> = table.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["time", "v8", "v9", "v10", "v11", "t0"]);
    let of = |place: usize| Column { name: String::new(), ..table.columns[place].clone() };
    assert!(of(1).nullable && of(1).make.is_some());
    assert_eq!((of(2), of(4)), (of(1), of(1)));
}

#[test]
fn columns_of_a_file() {
    let file = read(&format!("{READINGS}[phase.p]\ndo = \"insert\""));
    let column = |name: &str, from: Option<&str>, of, nullable| Column {
        from: from.map(|name| Box::new(Field { names: vec![name.to_owned()], ..Field::default() })),
        nullable,
        ..Column::new(name, of)
    };
    let table = Table {
        name: "readings".to_owned(),
        columns: vec![
            column(
                "station",
                Some("Station ID"),
                ColumnType::Int { bits: 16, signed: false },
                false,
            ),
            column("time", None, ColumnType::Timestamp(TimeUnit::Milliseconds), false),
            column("temp", None, ColumnType::Float, true),
            column("note", None, ColumnType::Text, true),
        ],
        key: vec![0, 1],
        indexes: Vec::new(),
        rows: RowsFrom::File(Box::new("readings.csv".into())),
    };
    assert_eq!(time_column(&table), Some(1));
    assert_eq!(file.tables, [table]);
}

/// How a column of ten rows is generated, and whether it may be absent.
fn made(column: &str) -> (Make, bool) {
    let file = read(&format!(
        "[table.t]\nrows = 10\nkey = [\"id\"]\n[table.t.columns]\n\
         id = {{ type = \"u8\", make = \"sequence\" }}\nx = {{ {column} }}\n[phase.p]\ndo = \"insert\"",
    ));
    let column = &file.tables[0].columns[1];
    (column.make.clone().expect("it is made"), column.nullable)
}

#[test]
fn made_columns() {
    let day = 1_704_067_200;
    for (column, kind) in [
        ("type = \"i8\", make = \"sequence\"", MakeKind::Sequence { from: 0, step: 1, repeat: 1 }),
        (
            "type = \"timestamp\", unit = \"ms\", make = \"sequence\"",
            MakeKind::Sequence { from: day * 1_000, step: 1_000, repeat: 1 },
        ),
        (
            "type = \"timestamp\", unit = \"s\", make = \"sequence\", from = 2024-01-01T00:01:00Z, \
             step = \"1h\", repeat = 5",
            MakeKind::Sequence { from: day + 60, step: 3_600, repeat: 5 },
        ),
        ("type = \"u8\", make = \"cycle\", distinct = 3", MakeKind::Cycle { from: 0, distinct: 3 }),
        ("type = \"i8\", make = \"random\"", MakeKind::RandomInt { from: -128, to: 127 }),
        ("type = \"u64\", make = \"random\"", MakeKind::RandomInt { from: 0, to: i64::MAX }),
        ("type = \"bool\", make = \"random\"", MakeKind::RandomInt { from: 0, to: 1 }),
        ("type = \"f64\", make = \"random\"", MakeKind::RandomFloat { from: 0.0, to: 1.0 }),
        (
            "type = \"text\", make = \"random\", length = [1, \"1k\"]",
            MakeKind::Random { from: 1, to: 1_000 },
        ),
        (
            "type = \"text\", make = \"words\", distinct = 9",
            MakeKind::Words { distinct: 9, skew: 0.0 },
        ),
        ("type = \"text\", make = \"hashed\"", MakeKind::Hashed { prefix: String::new() }),
        ("type = \"text\", make = \"uuid\"", MakeKind::Uuid),
        (
            "type = \"f64\", make = \"walk\", lowest = -10, highest = 30",
            MakeKind::Walk { from: 10.0, step: 0.4, lowest: -10.0, highest: 30.0 },
        ),
        (
            "type = \"bool\", make = \"choice\", values = [true, false]",
            MakeKind::Choice {
                values: vec![OwnedValue::Int(1), OwnedValue::Int(0)],
                weights: Vec::new(),
            },
        ),
        (
            "type = \"u8\", make = \"reference\", to = \"t\"",
            MakeKind::Reference { table: 0, skew: 0.0 },
        ),
    ] {
        assert_eq!(made(column), (Make::new(kind), false), "{column}");
    }
    let (make, nullable) = made("type = \"u8\", make = \"random\", absent = \"5%\"");
    assert_eq!((make.absent, nullable), (0.05, true));
    let (make, nullable) = made("type = \"u8?\", make = \"random\"");
    assert_eq!((make.absent, nullable), (0.0, true));
}

#[test]
fn keys_and_commits() {
    let insert = |commit| Work::Insert { table: 0, commit, requests: None };
    assert_eq!(work("do = \"insert\""), insert(Commit::Each));
    for (written, requests) in [("", 10), ("in-flight = 3", 3)] {
        let posted = work(&format!("do = \"insert\"\nover = \"http\"\n{written}"));
        let requests = Some(requests);
        assert_eq!(posted, Work::Insert { table: 0, commit: Commit::Each, requests });
    }
    for (written, commit) in [
        ("\"each\"", Commit::Each),
        ("\"all\"", Commit::All),
        ("\"bulk\"", Commit::Bulk),
        ("500", Commit::Rows(500)),
        ("\"10k\"", Commit::Rows(10_000)),
        ("{ batch = 500 }", Commit::Batch(500)),
        ("{ batch = 500, offered = \"2000/s\" }", Commit::Behind { batch: 500, offered: 2_000 }),
    ] {
        assert_eq!(work(&format!("do = \"insert\"\ncommit = {written}")), insert(commit));
    }
    assert_eq!(work("do = \"get\""), Work::Get { table: 0, keys: KEYS, snapshot: Snapshot::Phase });
    assert_eq!(
        work("do = \"get\"\nkeys = \"distinct\""),
        Work::Get {
            table: 0,
            keys: Keys { of: KeysOf::Distinct, ..KEYS },
            snapshot: Snapshot::Phase
        }
    );
    for (written, of) in [
        ("\"zipfian\"", KeysOf::Zipfian { skew: 0.99 }),
        ("\"newest\"", KeysOf::Newest { skew: 0.99 }),
        ("{ distribution = \"zipfian\", skew = 0.5 }", KeysOf::Zipfian { skew: 0.5 }),
        ("{ distribution = \"uniform\" }", KeysOf::Uniform),
    ] {
        let keys = Keys { ops: Count::Exactly(10_000), of, absent: 0.02, rows: 1 };
        let phase = format!("do = \"get\"\nops = \"10k\"\nabsent = 0.02\nkeys = {written}");
        assert_eq!(work(&phase), Work::Get { table: 0, keys, snapshot: Snapshot::Phase });
    }
}

#[test]
fn what_is_set_and_deleted() {
    let (keys, commit) = (KEYS, Commit::Each);
    // Everything but the key and the time.
    let set = Set::Columns(vec![2, 3]);
    assert_eq!(
        work("do = \"update\""),
        Work::Update { table: 0, keys: keys.clone(), set: set.clone(), commit }
    );
    assert_eq!(
        work("do = \"read-modify-write\""),
        Work::ReadModifyWrite { table: 0, keys: keys.clone(), set, commit }
    );
    let one = work("do = \"update\"\nset = { one-of = [\"note\"] }");
    assert_eq!(
        one,
        Work::Update { table: 0, keys: keys.clone(), set: Set::OneOf(vec![3]), commit }
    );
    assert_eq!(
        work("do = \"delete\""),
        Work::Delete { table: 0, removed: Removed::Keys { keys, commit } }
    );
    assert_eq!(
        work("do = \"delete\"\nolder = \"7d\""),
        Work::Delete { table: 0, removed: Removed::Older { time: 1, units: 604_800_000 } }
    );
}

fn ask(query: Query) -> Work {
    Work::Ask { table: 0, query }
}

#[test]
fn latest_and_ranges() {
    assert_eq!(work("do = \"latest\"\nby = \"station\""), ask(Query::Latest { by: 0, time: 1 }));
    assert_eq!(
        work("do = \"latest\"\nby = \"note\"\ntime = \"station\""),
        ask(Query::Latest { by: 3, time: 0 })
    );
    for (written, span) in [
        ("rows = 100", Span::Rows { from: 100, to: 100 }),
        ("rows = [1, 100]", Span::Rows { from: 1, to: 100 }),
        ("last = \"1h\"", Span::Last { of: None, time: 1, units: 3_600_000 }),
        ("last = \"5m\"\nof = \"station\"", Span::Last { of: Some(0), time: 1, units: 300_000 }),
        ("span = \"2w\"", Span::From { of: None, time: 1, units: 1_209_600_000 }),
        ("span = 7\ntime = \"station\"", Span::From { of: None, time: 0, units: 7 }),
    ] {
        let range = Range { table: 0, keys: KEYS, span, snapshot: Snapshot::Phase };
        assert_eq!(work(&format!("do = \"range\"\n{written}")), Work::Range(range));
    }
}

#[test]
fn gaps_outliers_and_correlations() {
    assert_eq!(
        work("do = \"gaps\"\nby = \"station\"\nlonger-than = \"10m\""),
        ask(Query::Gaps { by: 0, time: 1, longer: 600_000 })
    );
    assert_eq!(
        work("do = \"gaps\"\nby = \"note\"\ntime = \"station\"\nlonger-than = 5"),
        ask(Query::Gaps { by: 3, time: 0, longer: 5 })
    );
    assert_eq!(
        work("do = \"outliers\"\nof = \"temp\"\nby = \"station\"\ndeviations = 3"),
        ask(Query::Outliers { of: 2, by: 0, deviations: 3.0 })
    );
    let correlate = "do = \"correlate\"\nof = \"temp\"\nby = \"station\"\nbucket = \"5m\"";
    let usual = Correlate { of: 2, by: 0, time: 1, bucket: 300_000, between: None };
    assert_eq!(work(correlate), ask(Query::Correlate(usual.clone())));
    let between = Some([3, 7].map(OwnedValue::Int));
    assert_eq!(
        work(&format!("{correlate}\nbetween = [3, 7]")),
        ask(Query::Correlate(Correlate { between, ..usual }))
    );
}

fn group_of(phase: &str) -> Group {
    let Work::Ask { query: Query::Group(group), .. } = work(phase) else { panic!("no group") };
    group
}

#[test]
fn groups() {
    let plain = group_of("do = \"group\"");
    assert_eq!(plain.compute, [Compute { aggregate: Aggregate::Count, column: None }]);
    assert!(plain.conditions.is_empty() && plain.by.is_empty() && plain.order.is_empty());
    assert_eq!(plain.limit, None);

    let group = group_of(
        "do = \"group\"\nwhere = [[\"time\", \">=\", \"end - 1d\"], [\"time\", \"<\", \"start+2h\"], \
         [\"time\", \"!=\", \"end\"], [\"time\", \">\", \"2024-01-01\"], [\"note\", \"=\", \"end\"], \
         [\"temp\", \"<=\", 20]]\n\
         by = [\"station\", \"hour( time )\"]\ncompute = [\"count\", \"max(time)\", \"count(note)\"]\n\
         having = [[\"count\", \">=\", 10], [\"max(time)\", \"<\", \"2024-01-01\"]]\n\
         order = [\"-max(time)\", \"hour(time)\", \"station\"]\nlimit = 10",
    );
    let bounds: Vec<_> = group.conditions.into_iter().map(|condition| condition.bound).collect();
    assert_eq!(
        bounds,
        [
            Bound::End(-86_400_000),
            Bound::Start(7_200_000),
            Bound::End(0),
            Bound::Constant(OwnedValue::Int(1_704_067_200_000)),
            Bound::Constant(OwnedValue::Text("end".to_owned())),
            Bound::Constant(OwnedValue::Float(20.0)),
        ]
    );
    assert_eq!(group.by, [Grouped::Column(0), Grouped::Bucket { column: 1, units: 3_600_000 }]);
    assert_eq!(group.compute[2], Compute { aggregate: Aggregate::Count, column: Some(3) });
    let by = |column, descending| OrderBy { column, descending };
    assert_eq!(group.order, [by(3, true), by(1, false), by(0, false)]);
    assert_eq!(group.limit, Some(10));
    let having =
        |compute, operator, bound| Having { compute, operator, bound: OwnedValue::Int(bound) };
    assert_eq!(
        group.having,
        [having(0, Operator::AtLeast, 10), having(1, Operator::Less, 1_704_067_200_000)]
    );
    let five = group_of("do = \"group\"\nby = [\"5m(time)\", \"station\"]\norder = [\"5m(time)\"]");
    assert_eq!(five.by[0], Grouped::Bucket { column: 1, units: 300_000 });
}

#[test]
fn questions_in_sql() {
    let Work::Sql(sql) =
        work("sql = \"SELECT 1 ORDER BY 1;\"\nsql-duckdb = \"SELECT 2\"\nanswer = \"a.csv\"")
    else {
        panic!("no sql")
    };
    assert_eq!(sql.text.as_deref(), Some("SELECT 1 ORDER BY 1"));
    assert_eq!(
        sql.by_engine.into_iter().collect::<Vec<_>>(),
        [("duckdb".to_owned(), "SELECT 2".to_owned())]
    );
    assert_eq!((sql.answer, sql.ordered), (Some("a.csv".into()), true));
    let Work::Sql(own) = work("sql-sqlite = \"SELECT 1\"") else { panic!("no sql") };
    assert_eq!((own.text, own.ordered), (None, false));
}

#[test]
fn operations_are_so_many_a_share_of_the_rows_or_as_the_size_says() {
    let sizes = Count::BySize(vec![(10_000, 1), (1_000_000, 25)]);
    for (written, ops, of) in [
        ("7", Count::Exactly(7), [7, 7, 7]),
        ("\"10%\"", Count::Share(0.1), [1, 1_000, 200_000]),
        ("{ \"1M\" = 25, \"10k\" = 1 }", sizes, [1, 1, 2_000_000]),
    ] {
        let file = read(&format!("{READINGS}[phase.p]\ndo = \"get\"\nops = {written}"));
        assert_eq!([9, 10_000, 2_000_000].map(|rows| ops.for_rows(rows)), of, "{written}");
        let (keys, snapshot) = (Keys { ops, ..KEYS }, Snapshot::Phase);
        assert_eq!(file.phases[0].work, Work::Get { table: 0, keys, snapshot });
    }
    assert_eq!([30, 300, 1_000].map(|rows| Count::Share(0.1).for_rows(rows)), [3, 30, 100]);
}

#[test]
fn mixes() {
    let phases = "[phase.live]\nmix = { get = \"200/s\", put = \"30/m\" }\n[phase.get]\ndo = \"get\"\n\
                  [phase.put]\ndo = \"insert\"\nonly = \"mix\"\n\
                  [phase.shares]\nmix = { put = \"5%\", get = 0.95 }\n\
                  [phase.long]\nmix = { get = 1 }\nclients = 4\nfor = \"2m\"";
    let file = read(&format!("{READINGS}{phases}"));
    let alone: Vec<_> = file.phases.iter().map(|phase| phase.alone).collect();
    assert_eq!(alone, [true, true, false, true, true]);
    let mixes: Vec<_> = file
        .phases
        .into_iter()
        .filter_map(|phase| match phase.work {
            Work::Mix(mix) => Some(mix),
            _ => None,
        })
        .collect();
    let part = |phase, pace| Part { phase, pace };
    let mix = |parts, clients, lasts: Option<u64>| Mix {
        parts,
        clients,
        lasts: lasts.map(Duration::from_secs),
        until_steady: false,
        ops: 1_000,
    };
    assert_eq!(
        mixes,
        [
            mix(vec![part(1, Pace::Rate(200.0)), part(2, Pace::Rate(0.5))], 1, Some(30)),
            mix(vec![part(2, Pace::Share(0.05)), part(1, Pace::Share(0.95))], 1, None),
            mix(vec![part(1, Pace::Share(1.0))], 4, Some(120)),
        ]
    );
}

#[test]
fn sequences() {
    let phases = "[phase.both]\nsequence = [\"put\", \"count\"]\n[phase.put]\ndo = \"insert\"\nonly = \"sequence\"\n\
                  [phase.count]\ndo = \"group\"\n[phase.asked]\nsequence = [\"count\", \"count\"]\n\
                  [variant.a]\nabout = \"a\"\n[variant.b]\nabout = \"b\"\nphase.put.commit = \"bulk\"";
    let file = read(&format!("{READINGS}{phases}"));
    let alone: Vec<_> = file.phases.iter().map(|phase| phase.alone).collect();
    assert_eq!(alone, [true, false, true, true]);
    let of = |insert, questions| Work::Sequence(Sequence { insert, questions });
    assert_eq!(file.phases[0].work, of(Some(1), vec![2]));
    assert_eq!(file.phases[3].work, of(None, vec![2, 2]));
    assert_eq!(file.phases[0].about, "inserts every row into a fresh table, then asks a question");
    // A variant of a part is one of the whole.
    assert_eq!(file.variants[1].changes, [0, 1]);
}

#[test]
fn a_mix_by_rates_goes_on_until_it_is_steady_for_ten_minutes_at_most_or_as_long_as_it_says() {
    for (more, seconds) in [("", 600), ("at-most = \"90s\"\n", 90)] {
        let phases = format!(
            "[phase.get]\ndo = \"get\"\n[phase.both]\nmix = {{ get = \"5/s\" }}\nfor = \"until steady\"\n{more}"
        );
        let file = read(&format!("{READINGS}{phases}"));
        let Work::Mix(mix) = &file.phases[1].work else { panic!() };
        assert!(mix.until_steady);
        assert_eq!(mix.lasts, Some(Duration::from_secs(seconds)));
    }
}

#[test]
fn the_table_with_the_most_phases_is_the_main_one() {
    let table = |name: &str, more: &str| {
        format!(
            "[table.{name}]\nrows = 9\nkey = [\"id\"]\n[table.{name}.columns]\n\
             id = {{ type = \"u32\", make = \"sequence\" }}\n{more}\n"
        )
    };
    let first = table("a", "b = { type = \"u32\", make = \"reference\", to = \"b\" }");
    let tables = format!("{first}{}", table("b", ""));
    let phase = |name: &str, of: &str| format!("[phase.{name}]\ndo = \"get\"\ntable = \"{of}\"\n");
    let file = read(&format!("{tables}{}{}{}", phase("p", "a"), phase("q", "b"), phase("r", "b")));
    let names: Vec<_> = file.tables.iter().map(|table| &*table.name).collect();
    assert_eq!(names, ["b", "a"]);
    let kind = &file.tables[1].columns[1].make.as_ref().unwrap().kind;
    assert_eq!(*kind, MakeKind::Reference { table: 0, skew: 0.0 });
    assert_eq!(file.phases[0].work, Work::Get { table: 1, keys: KEYS, snapshot: Snapshot::Phase });
    let file = read(&format!("{tables}{}{}", phase("p", "b"), phase("q", "a")));
    assert_eq!(file.tables[0].name, "a");
}

#[test]
fn fields_of_documents_are_columns_in_every_form() {
    let file = |form: &str| {
        read(&format!(
            "[table.t]\nfile = \"t.json\"\nkey = [\"id\"]\n{form}\n[table.t.columns]\nid = \"u32\"\n\
             data = {{ type = \"json\", from = \"payload\", fields = {{ x = \"f64?\", \
             user = {{ type = \"text\", from = \"who\" }} }} }}\n[phase.p]\ndo = \"upsert\"\n"
        ))
    };
    for (form, binary) in [
        ("", Some(false)),
        ("json = \"text\"", Some(false)),
        ("json = \"binary\"", Some(true)),
        ("json = \"columns\"", None),
    ] {
        let table = &file(form).tables[0];
        let column = |field: &str, from: &str, of, nullable| Column {
            from: Some(Box::new(Field { names: vec![from.to_owned()], ..Field::default() })),
            nullable,
            within: binary.map(|binary| {
                let (document, field) = ("data".to_owned(), field.to_owned());
                Box::new(Within { document, field, binary })
            }),
            ..Column::new(format!("data_{field}"), of)
        };
        let expected = [
            column("x", "payload.x", ColumnType::Float, true),
            column("user", "who", ColumnType::Text, false),
        ];
        assert_eq!(table.columns[1..], expected, "{form}");
    }
}
