//! What every SQL engine must do, in every tier it offers. An engine that cannot run here is
//! skipped.

use std::slice;

use crate::outside::engines;
use embermark_engines::sql::{
    Access, Nullable, Param, QueryKind, ResultRow, Rows, SqlStore, SqlType, Statement, TableDef,
};
use embermark_engines::{
    DataModel, Engine, EngineError, Kind, OpenOptions, Opened, Reopener, Store, Tier,
};
use embermark_model::Durability;
use embermark_skips::{is_here, sampled};

mod columns;
mod csv;

/// Returns a table with every column type except bytes.
const fn table(name: &'static str) -> TableDef {
    TableDef {
        name,
        columns: &[
            ("id", SqlType::Int, Nullable::No),
            ("stamp", SqlType::Big, Nullable::No),
            ("number", SqlType::Double, Nullable::Yes),
            ("words", SqlType::Text, Nullable::Yes),
        ],
        key: &["id", "stamp"],
    }
}

/// An open store and its engine.
struct Subject {
    engine: &'static dyn Engine,
    tier: Durability,
    options: OpenOptions,
    store: Box<dyn SqlStore>,
}

type Row = (Option<i64>, Option<i64>, Option<f64>, Option<String>);

fn row(row: &dyn ResultRow) -> Result<Row, EngineError> {
    Ok((row.int(0)?, row.int(1)?, row.float(2)?, row.text(3)?.map(str::to_owned)))
}

impl Subject {
    fn create(&mut self, table: &TableDef) {
        self.store.batch(&self.store.dialect().create_table(table)).unwrap();
    }

    /// Prepares a statement, with each `?` replaced by the dialect's placeholder.
    fn prepare(&mut self, sql: &str) -> Statement {
        let mut parts = sql.split('?');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for (n, part) in (1..).zip(parts) {
            text = text + &self.store.dialect().placeholder(n) + part;
        }
        self.store.prepare(&text).unwrap()
    }

    fn run(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64, EngineError> {
        let statement = self.prepare(sql);
        self.store.run(statement, params)
    }

    fn insert(&mut self, table: &TableDef, id: i64, number: f64) -> Result<u64, EngineError> {
        let sql = format!("INSERT INTO {} VALUES (?, ?, ?, ?)", table.name);
        self.run(&sql, &[Param::Int(id), Param::Int(0), Param::Float(number), Param::Text("x")])
    }

    fn rows(&mut self, sql: &str, params: &[Param<'_>]) -> Vec<Row> {
        let statement = self.prepare(sql);
        let mut rows = Vec::new();
        let mut visit = |found: &dyn ResultRow| {
            rows.push(row(found)?);
            Ok(())
        };
        self.store.query(statement, params, &mut visit).unwrap();
        rows
    }

    fn int(&mut self, sql: &str) -> Option<i64> {
        self.one(sql, |row| row.int(0))
    }

    fn float(&mut self, sql: &str) -> Option<f64> {
        self.one(sql, |row| row.float(0))
    }

    fn one<T>(
        &mut self,
        sql: &str,
        read: impl Fn(&dyn ResultRow) -> Result<Option<T>, EngineError>,
    ) -> Option<T> {
        let statement = self.prepare(sql);
        let mut found = Vec::new();
        let mut visit = |row: &dyn ResultRow| {
            found.push(read(row)?);
            Ok(())
        };
        self.store.query(statement, &[], &mut visit).unwrap();
        assert_eq!(found.len(), 1, "{sql}");
        found.remove(0)
    }

    /// Returns the beginning of its errors.
    fn errs_as(&self) -> &'static str {
        match self.engine.info().id {
            "parquet" => "duckdb",
            id => id,
        }
    }

    /// Empties a table.
    fn empty(&mut self, table: &TableDef) {
        if !self.engine.is_append_only() {
            let held = self.count(table) as u64;
            let removed = self.run(&format!("DELETE FROM {}", table.name), &[]).unwrap();
            return assert_eq!(removed, held);
        }
        self.store.batch(&self.store.dialect().drop_table(table.name)).unwrap();
        self.create(table);
    }

    fn count(&mut self, table: &TableDef) -> i64 {
        self.int(&format!("SELECT COUNT(*) FROM {}", table.name)).unwrap()
    }
}

/// Checks one topic, on its own tables.
type Check = fn(&mut Subject);

/// Topics, in the order in which they are run on one store.
const TOPICS: &[(&str, Check)] = &[
    ("a store settles before it holds anything", settles),
    ("every kind of value comes back as it went in", values_round_trip),
    ("long texts come back whole", long_texts_come_back_whole),
    ("bytes come back as they went in, and find their row", columns::bytes_round_trip),
    ("texts and bytes are compared by their bytes", columns::comparisons_are_by_bytes),
    ("texts and bytes of an index find their rows", columns::indexes_find),
    ("everyday names of columns and tables are taken", columns::names_are_taken),
    ("a key is compared as a whole, however it is written", columns::keys_are_compared),
    ("a value of any kind is read as what it is", columns::values_of_any_kind_are_read),
    ("changed rows are counted", changes_are_counted),
    ("a transaction sees its own changes, and keeps them", transactions_keep),
    ("a statement runs once with each of many parameters", statements_run_many_times),
    ("a duplicate key is an error, and the store goes on", duplicates_are_refused),
    ("a bulk load holds every row, also into an emptied table", bulk_loads_everything),
    ("a bulk load that fails leaves nothing", bulk_leaves_nothing_behind_an_error),
    ("a CSV file is loaded whole or not at all, or the engine loads none", csv::files_are_loaded),
    ("the dialect's expressions give the right numbers", expressions_are_right),
    ("an empty table answers", empty_tables_answer),
    ("an error names the statement and the engine", errors_name_the_statement),
    ("a visitor's error ends the query and nothing else", visitors_may_stop),
    ("statements run whatever was expected", expectations_change_no_answer),
    ("the plan of a query names what is read, and nothing is done", plans_are_told),
    ("a store opened again holds everything and knows no statement", opens_again),
    ("after a crash its log has every commit, or it says that it has none", recovers),
    ("a store settles after all that", settles),
];

/// Topics that change rows from one end to the other.
const CHANGING: [&str; 3] = [
    "bytes come back as they went in, and find their row",
    "texts and bytes of an index find their rows",
    "everyday names of columns and tables are taken",
];

fn conform(engine: &'static dyn Engine, tier: Durability) {
    let folder = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    {
        // A private server may run as another user.
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
    }
    let dir = folder.path().to_owned();
    let options = OpenOptions::new(dir, tier, 64 << 20);
    let opened = engine.open(&options).unwrap();
    assert!(!opened.version.is_empty() && !opened.settings.is_empty());
    let mut subject = Subject { engine, tier, store: sql(opened), options };
    let is_append_only = engine.is_append_only();
    let asked = |topic: &str| !is_append_only || !CHANGING.contains(&topic);
    for (topic, check) in TOPICS.iter().filter(|(topic, _)| asked(topic)) {
        eprintln!("{}, tier {tier}: {topic}", engine.info().id);
        check(&mut subject);
    }
    eprintln!("{}, tier {tier}: a closed database opens with all it held", engine.info().id);
    closed_databases_keep_everything(subject);
}

fn sql(opened: Opened) -> Box<dyn SqlStore> {
    match opened.store {
        Store::Sql(store) => store,
        _ => panic!("an engine of family SQL opened another store"),
    }
}

#[test]
fn every_sql_engine_conforms_in_its_tiers() {
    let of_family =
        engines().iter().copied().filter(|engine| engine.info().family == DataModel::Sql);
    for engine in sampled(of_family.filter(|engine| is_here(*engine)), 2) {
        let offered = |tier: &Durability| !matches!(engine.tier(*tier), Tier::Unsupported { .. });
        for tier in sampled(Durability::ALL.into_iter().filter(offered), 1) {
            conform(engine, tier);
        }
    }
}

#[test]
fn no_sql_engine_keeps_less_than_its_tier_promises() {
    let sql_engines = engines().iter().filter(|e| e.info().family == DataModel::Sql);
    for (engine, tier) in sql_engines.flat_map(|e| Durability::ALL.map(|tier| (e, tier))) {
        if let Tier::Offered { effective_durability: keeps, .. } = engine.tier(tier) {
            assert!(keeps >= tier, "{} keeps {keeps} in tier {tier}", engine.info().id);
        }
    }
}

fn settles(subject: &mut Subject) {
    subject.store.maintain().unwrap();
    subject.store.maintain().unwrap();
}

fn values_round_trip(subject: &mut Subject) {
    let table = table("round_trip");
    subject.create(&table);
    let mut long = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ".repeat(90);
    if let Some(longest) = subject.store.dialect().longest() {
        long.truncate(long.floor_char_boundary(longest));
    }
    let numbers = [0.1, -1.0 / 3.0, 5e-324, f64::MAX, f64::MIN, -0.0, 1e15, 3.0];
    let texts = [
        "",
        "a",
        "exactly12byt",
        "thirteen byte",
        "it's \"so\"; -- $1 ? ?1 `x` \\n %s {}",
        "日本語 🦆 naïve",
        "line\nbreak\ttab",
        &long,
    ];
    let stamps = [i64::MIN, i64::MAX, 0, -1, 1 << 53, (1 << 53) + 1, -1_077_926_400_123_456, 7];
    let mut expected: Vec<Row> = (0..)
        .zip(numbers.iter().zip(texts).zip(stamps))
        .map(|(i, ((number, text), stamp))| {
            (Some(i), Some(stamp), Some(*number), Some(text.to_owned()))
        })
        .collect();
    expected.push((Some(i64::from(i32::MAX)), Some(8), None, None));
    expected.push((Some(i64::from(i32::MIN)), Some(9), None, Some("only words".into())));
    expected.push((Some(-1), Some(10), Some(2.5), None));

    let insert = subject.prepare("INSERT INTO round_trip VALUES (?, ?, ?, ?)");
    for (id, stamp, number, words) in &expected {
        let params = [
            id.map_or(Param::Null, Param::Int),
            stamp.map_or(Param::Null, Param::Int),
            number.map_or(Param::Null, Param::Float),
            words.as_deref().map_or(Param::Null, Param::Text),
        ];
        assert_eq!(subject.store.run(insert, &params).unwrap(), 1);
    }
    for wanted in &expected {
        let (id, stamp) = (Param::Int(wanted.0.unwrap()), Param::Int(wanted.1.unwrap()));
        let key = "SELECT * FROM round_trip WHERE id = ? AND stamp = ?";
        let found = subject.rows(key, &[id, stamp]);
        assert_eq!(found, slice::from_ref(wanted));
        let bits = |number: Option<f64>| number.map(|n| if n == 0.0 { 0 } else { n.to_bits() });
        assert_eq!(bits(found[0].2), bits(wanted.2));
    }
    let of_number = "SELECT * FROM round_trip WHERE number = ?";
    assert_eq!(subject.rows(of_number, &[Param::Float(0.1)]), expected[..1]);
    let of_words = "SELECT * FROM round_trip WHERE words = ?";
    for wanted in &expected[..texts.len()] {
        let words = wanted.3.as_deref().unwrap();
        let found = subject.rows(of_words, &[Param::Text(words)]);
        assert_eq!(found, slice::from_ref(wanted));
    }
    assert_eq!(subject.rows(of_words, &[Param::Null]), []);
    // A statement is used again after a NULL, which it does not remember.
    assert_eq!(subject.rows(of_words, &[Param::Text("only words")]).len(), 1);
}

/// Rows that exist already.
struct Given<'a>(std::vec::IntoIter<[Param<'a>; 4]>, [Param<'a>; 4]);

impl Rows for Given<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.1 = self.0.next()?;
        Some(&self.1)
    }
}

/// Texts longer than a page, in the last column of a table and between others; also by a statement
/// that was prepared when there were none.
fn long_texts_come_back_whole(subject: &mut Subject) {
    let table = table("lengthy");
    let dialect = subject.store.dialect();
    let long_text = dialect.json().unwrap_or(dialect.long_text());
    let create = dialect.create_table_of(&table, &[("words", long_text)]);
    subject.store.batch(&create).unwrap();
    let long = |id: i64| format!("[{id},{}]", vec!["[1,2,3,4,5]"; 3_000].join(","));
    let texts: Vec<String> = (0..10).map(long).collect();
    let rows = texts
        .iter()
        .enumerate()
        .map(|(id, text)| [Param::Int(id as i64), Param::Int(7), Param::Null, Param::Text(text)]);
    let mut rows = Given(rows.collect::<Vec<_>>().into_iter(), [Param::Null; 4]);
    let first = dialect.limit("1");
    let early = format!("SELECT id, words FROM lengthy ORDER BY id DESC {first}");
    let early = subject.prepare(&early);
    subject.store.expect(QueryKind::Point).unwrap();
    subject.store.bulk_insert(&table, &mut rows).unwrap();
    for settled in [false, true] {
        if settled {
            subject.store.maintain().unwrap();
        }
        let last = format!("SELECT * FROM lengthy ORDER BY id DESC {first}");
        let last = subject.rows(&last, &[]);
        assert!(last[0].3.as_ref() == Some(&texts[9]), "the last one, settled: {settled}");
        let mut newest = String::new();
        let mut visit = |row: &dyn ResultRow| {
            row.text(1)?.unwrap_or_default().clone_into(&mut newest);
            Ok(())
        };
        subject.store.query(early, &[], &mut visit).unwrap();
        assert!(newest == texts[9], "prepared before, settled: {settled}");
        let all = subject.rows(
            "SELECT * FROM lengthy WHERE id BETWEEN ? AND ? ORDER BY id",
            &[Param::Int(2), Param::Int(8)],
        );
        let same = all.iter().zip(&texts[2..9]).all(|(row, text)| row.3.as_ref() == Some(text));
        assert!(all.len() == 7 && same, "a range, settled: {settled}");
    }
}

fn changes_are_counted(subject: &mut Subject) {
    let table = table("changes");
    subject.create(&table);
    if subject.engine.is_append_only() {
        let refused = subject.store.prepare("DELETE FROM changes").unwrap_err();
        return assert!(refused.is_unsupported(), "{refused}");
    }
    for id in 0..10 {
        assert_eq!(subject.insert(&table, id, 1.0).unwrap(), 1);
    }
    let update = "UPDATE changes SET number = ? WHERE id >= ?";
    let change = |above| [Param::Float(2.0), Param::Int(above)];
    for (above, changed) in [(10, 0), (9, 1), (3, 7), (0, 10)] {
        assert_eq!(subject.run(update, &change(above)).unwrap(), changed);
    }
    let delete = "DELETE FROM changes WHERE id >= ?";
    for (above, changed) in [(10, 0), (9, 1), (3, 6), (0, 3), (0, 0)] {
        assert_eq!(subject.run(delete, &[Param::Int(above)]).unwrap(), changed);
    }
    assert_eq!(subject.count(&table), 0);
}

fn transactions_keep(subject: &mut Subject) {
    let table = table("kept");
    subject.create(&table);
    subject.store.begin(Access::Write).unwrap();
    subject.insert(&table, 1, 1.0).unwrap();
    subject.insert(&table, 2, 1.0).unwrap();
    assert_eq!(subject.count(&table), 2);
    subject.store.commit().unwrap();
    assert_eq!(subject.count(&table), 2);
    subject.store.begin(Access::Read).unwrap();
    assert_eq!(subject.count(&table), 2);
    subject.store.commit().unwrap();
    subject.insert(&table, 3, 1.0).unwrap();
    subject.store.begin(Access::Read).unwrap();
    assert_eq!(subject.count(&table), 3);
    subject.store.commit().unwrap();
}

/// Inserts, upserts, updates and deletes with values of every kind, some of which are NULL at
/// first.
fn statements_run_many_times(subject: &mut Subject) {
    const ROWS: i64 = 1_500;
    let table = table("many");
    subject.create(&table);
    if subject.engine.is_append_only() {
        return;
    }
    let words = |id: i64| if id % 3 == 2 { Param::Text("zwölf") } else { Param::Null };
    let number = |id: i64| if id % 2 == 1 { Param::Float(id as f64 / 4.0) } else { Param::Null };
    let row = |id: i64| [Param::Int(id), Param::Int(-id), number(id), words(id)];
    let each = |subject: &mut Subject, sql: &str, rows: &mut dyn Rows| {
        let statement = subject.prepare(sql);
        subject.store.begin(Access::Write).unwrap();
        let changed = subject.store.run_each(statement, rows).unwrap();
        subject.store.commit().unwrap();
        changed
    };
    let insert = "INSERT INTO many VALUES (?, ?, ?, ?)";
    let mut rows = Given((0..ROWS).map(row).collect::<Vec<_>>().into_iter(), [Param::Null; 4]);
    assert_eq!(each(subject, insert, &mut rows), ROWS as u64);
    assert_eq!(subject.count(&table), ROWS);
    let expected: f64 = (0..ROWS).filter(|id| id % 2 == 1).map(|id| id as f64 / 4.0).sum();
    assert_eq!(subject.float("SELECT SUM(number) FROM many"), Some(expected));
    let third = "SELECT COUNT(*) FROM many WHERE words = 'zwölf'";
    assert_eq!(subject.int(third), Some(ROWS / 3));

    // The statement that ran many times runs once, and the other way round.
    assert_eq!(subject.insert(&table, ROWS, 0.0).unwrap(), 1);
    let upsert = subject.store.dialect().upsert(
        "many",
        &["id", "stamp", "number", "words"],
        &["id", "stamp"],
    );
    let again = (ROWS - 10..ROWS + 10).map(|id| {
        let [id, stamp, ..] = row(id);
        [id, stamp, Param::Float(-1.0), Param::Text("again")]
    });
    let mut again = Given(again.collect::<Vec<_>>().into_iter(), [Param::Null; 4]);
    let upsert = subject.store.prepare(&upsert).unwrap();
    subject.store.begin(Access::Write).unwrap();
    subject.store.run_each(upsert, &mut again).unwrap();
    subject.store.commit().unwrap();
    // The row that was inserted singly has another key.
    assert_eq!(subject.count(&table), ROWS + 11);
    assert_eq!(subject.int("SELECT COUNT(*) FROM many WHERE words = 'again'"), Some(20));

    // Half of the keys exist.
    let keys = |ids: std::ops::Range<i64>| ids.map(|id| vec![Param::Int(id), Param::Int(-id)]);
    let mut found =
        Listed::of(keys(ROWS..2 * ROWS + 20).map(|key| [&[Param::Float(7.0)][..], &key].concat()));
    let update = "UPDATE many SET number = ? WHERE id = ? AND stamp = ?";
    assert_eq!(each(subject, update, &mut found), 10);
    assert_eq!(subject.int("SELECT COUNT(*) FROM many WHERE number = 7"), Some(10));
    let mut found = Listed::of(keys(ROWS / 2..2 * ROWS));
    let delete = "DELETE FROM many WHERE id = ? AND stamp = ?";
    assert_eq!(each(subject, delete, &mut found), ROWS as u64 / 2 + 10);
    assert_eq!(subject.count(&table), ROWS / 2 + 1);
    assert_eq!(each(subject, delete, &mut Listed::of([].into_iter())), 0);
}

/// Any number of parameters that exist already.
struct Listed<'a>(std::vec::IntoIter<Vec<Param<'a>>>, Vec<Param<'a>>);

impl<'a> Listed<'a> {
    fn of(all: impl Iterator<Item = Vec<Param<'a>>>) -> Self {
        Self(all.collect::<Vec<_>>().into_iter(), Vec::new())
    }
}

impl Rows for Listed<'_> {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        self.1 = self.0.next()?;
        Some(&self.1)
    }
}

fn duplicates_are_refused(subject: &mut Subject) {
    let (table, id) = (table("duplicates"), subject.engine.info().id);
    subject.create(&table);
    if subject.engine.is_append_only() {
        // It has no keys.
        return;
    }
    subject.insert(&table, 1, 1.0).unwrap();
    let error = subject.insert(&table, 1, 2.0).unwrap_err().to_string();
    assert!(error.starts_with(id), "{error}");
    assert_eq!(subject.float("SELECT number FROM duplicates WHERE id = 1"), Some(1.0));

    // Within a transaction it undoes the transaction: no half of one is ever kept.
    subject.store.begin(Access::Write).unwrap();
    subject.insert(&table, 2, 1.0).unwrap();
    subject.insert(&table, 1, 1.0).unwrap_err();
    let _ = subject.store.commit();
    assert_eq!(subject.count(&table), 1);

    subject.store.begin(Access::Write).unwrap();
    subject.insert(&table, 3, 1.0).unwrap();
    subject.store.commit().unwrap();
    assert_eq!(subject.count(&table), 2);
}

/// Rows of the ids below `count`, each once.
struct Generated {
    count: i64,
    next: i64,
    step: i64,
    row: [Param<'static>; 4],
}

const LOADED: i64 = 50_001;

impl Generated {
    fn new(count: i64, is_sorted: bool) -> Self {
        // A step that shares no factor with the count reaches each id once.
        let step = if is_sorted { 1 } else { 7919 };
        Self { count, next: 0, step, row: [Param::Null; 4] }
    }

    fn number(id: i64) -> Option<f64> {
        (id % 7 != 0).then_some(id as f64 / 4.0)
    }

    fn words(id: i64) -> Option<&'static str> {
        [None, Some(""), Some("wörter"), Some("more than twelve bytes of text")][id as usize % 4]
    }
}

impl Rows for Generated {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.next == self.count {
            return None;
        }
        let id = self.next * self.step % self.count;
        self.next += 1;
        self.row = [
            Param::Int(id),
            Param::Int(-id),
            Self::number(id).map_or(Param::Null, Param::Float),
            Self::words(id).map_or(Param::Null, Param::Text),
        ];
        Some(&self.row)
    }
}

fn bulk_loads_everything(subject: &mut Subject) {
    let table = table("bulk");
    subject.create(&table);
    for _ in 0..2 {
        subject.empty(&table);
        let mut rows = Generated::new(LOADED, subject.store.bulk_sorted());
        assert_eq!(subject.store.bulk_insert(&table, &mut rows).unwrap(), LOADED as u64);
        let found = subject.rows("SELECT * FROM bulk ORDER BY id", &[]);
        assert_eq!(found.len() as i64, LOADED);
        for (id, found) in (0..).zip(found) {
            let words = Generated::words(id).map(str::to_owned);
            assert_eq!(found, (Some(id), Some(-id), Generated::number(id), words));
        }
        // A load smaller than any batch works too.
        subject.empty(&table);
        assert_eq!(subject.store.bulk_insert(&table, &mut Generated::new(0, true)).unwrap(), 0);
        assert_eq!(subject.store.bulk_insert(&table, &mut Generated::new(3, true)).unwrap(), 3);
        assert_eq!(subject.count(&table), 3);
    }
    subject.empty(&table);
    let mut rows = Generated::new(LOADED, subject.store.bulk_sorted());
    subject.store.bulk_insert(&table, &mut rows).unwrap();
}

/// A row that violates the key, or the table's shape, after good ones.
struct Spoilt(Generated, &'static [Param<'static>]);

impl Rows for Spoilt {
    fn next(&mut self) -> Option<&[Param<'_>]> {
        if self.0.next == self.0.count {
            // The bad row comes once, then the end: some drivers report an error only there.
            self.0.count = -1;
            return Some(self.1);
        }
        if self.0.count == -1 { None } else { self.0.next() }
    }
}

fn bulk_leaves_nothing_behind_an_error(subject: &mut Subject) {
    let (table, id) = (table("spoilt"), subject.errs_as());
    subject.create(&table);
    let duplicate = &[Param::Int(5), Param::Int(-5), Param::Null, Param::Null];
    let short = &[Param::Int(5)];
    let bad: [&'static [Param<'static>]; 2] = [duplicate, short];
    for bad in bad.into_iter().skip(usize::from(subject.engine.is_append_only())) {
        let mut rows = Spoilt(Generated::new(5_000, true), bad);
        let error = subject.store.bulk_insert(&table, &mut rows).unwrap_err().to_string();
        assert!(error.starts_with(id), "{error}");
        assert_eq!(subject.count(&table), 0);
    }
    let mut rows = Generated::new(5_000, true);
    assert_eq!(subject.store.bulk_insert(&table, &mut rows).unwrap(), 5_000);
}

fn expressions_are_right(subject: &mut Subject) {
    let table = table("expressions");
    subject.create(&table);
    let dialect = subject.store.dialect();
    let of_all = |expression: String| format!("SELECT {expression} FROM expressions");
    for (dividend, divisor, quotient) in
        [(7, 2, 3), (8, 2, 4), (0, 5, 0), (299_999_999, 300, 999_999)]
    {
        let expression = dialect.integer_division(&dividend.to_string(), &divisor.to_string());
        assert_eq!(subject.int(&dialect.value(&expression)), Some(quotient));
        let left = dialect.value(&dialect.remainder(&dividend.to_string(), &divisor.to_string()));
        assert_eq!(subject.int(&left), Some(dividend - quotient * divisor));
    }
    let left = dialect.value(&dialect.remainder("(0 - 7)", "3"));
    assert_eq!(subject.int(&left), Some(-1), "{left}");
    // x is `stamp` and y is `number`: the sums of squares about the means are 10 and 6, the sum of
    // products is 6.
    for (x, y) in (1..).zip([2.0, 4.0, 5.0, 4.0, 5.0]) {
        let params = [Param::Int(x), Param::Int(x), Param::Float(y), Param::Null];
        subject.run("INSERT INTO expressions VALUES (?, ?, ?, ?)", &params).unwrap();
    }
    let mean = format!("SELECT {} FROM expressions WHERE id IN (1, 2, 4)", dialect.mean("stamp"));
    let mean = subject.float(&mean).unwrap();
    assert!((mean - 7.0 / 3.0).abs() < 1e-12, "{mean}");
    let quotient = dialect.integer_division("stamp", "2");
    let halves = format!("SELECT COUNT(*) FROM expressions WHERE {quotient} = 1");
    assert_eq!(subject.int(&halves), Some(2));
    if let Some(deviation) = dialect.sample_deviation("number") {
        let found = subject.float(&of_all(deviation.clone())).unwrap();
        assert!((found - 1.5_f64.sqrt()).abs() < 1e-12, "{found}");
        let of_one = format!("SELECT {deviation} FROM expressions WHERE id = 1");
        assert_eq!(subject.float(&of_one), None);
    }
    if let Some(correlation) = dialect.correlation("number", "stamp") {
        let found = subject.float(&of_all(correlation.clone())).unwrap();
        assert!((found - 6.0 / 60_f64.sqrt()).abs() < 1e-12, "{found}");
        for without_variance in ["id = 1", "number = 4", "id = 99"] {
            let sql = format!("SELECT {correlation} FROM expressions WHERE {without_variance}");
            assert_eq!(subject.float(&sql), None, "{without_variance}");
        }
    }
}

fn empty_tables_answer(subject: &mut Subject) {
    let table = table("empty");
    subject.create(&table);
    assert_eq!(subject.count(&table), 0);
    assert_eq!(subject.rows("SELECT * FROM empty", &[]), []);
    assert_eq!(subject.float("SELECT AVG(number) FROM empty"), None);
    assert_eq!(subject.int("SELECT MAX(stamp) FROM empty"), None);
    if !subject.engine.is_append_only() {
        assert_eq!(subject.run("UPDATE empty SET number = 1", &[]).unwrap(), 0);
    }
}

fn errors_name_the_statement(subject: &mut Subject) {
    let id = subject.errs_as();
    let errors = [
        subject.store.prepare("SELECT nonsense FROM nowhere").unwrap_err(),
        subject.store.batch("DROP TABLE nowhere").unwrap_err(),
        subject.store.prepare("SELEC nowhere").unwrap_err(),
    ];
    for error in errors.map(|error| error.to_string()) {
        assert!(error.starts_with(id) && error.contains("nowhere"), "{error}");
    }
    if subject.engine.info().kind == Kind::Embedded {
        let statement = subject.prepare("SELECT id FROM kept WHERE id = ?");
        for params in [&[][..], &[Param::Int(1); 2]] {
            let error = subject.store.query(statement, params, &mut |_| Ok(())).unwrap_err();
            assert!(error.to_string().contains("FROM kept"), "{error}");
        }
    }
    assert_eq!(subject.count(&table("kept")), 3);
}

fn visitors_may_stop(subject: &mut Subject) {
    let table = table("visited");
    subject.create(&table);
    let stop = || EngineError::failed("visitor", "go on", "it has seen enough");
    subject.store.begin(Access::Write).unwrap();
    subject.insert(&table, 1, 1.0).unwrap();
    let all = subject.prepare("SELECT id FROM bulk");
    let mut visits = 0;
    let mut visit = |_: &dyn ResultRow| {
        visits += 1;
        if visits == 3 { Err(stop()) } else { Ok(()) }
    };
    let error = subject.store.query(all, &[], &mut visit).unwrap_err().to_string();
    assert_eq!((visits, error), (3, stop().to_string()));
    subject.insert(&table, 2, 1.0).unwrap();
    subject.store.commit().unwrap();
    assert_eq!(subject.count(&table), 2);

    // Reading a column as another type is such an error.
    let mut read = |row: &dyn ResultRow| row.int(3).map(drop);
    let words = subject.prepare("SELECT * FROM bulk WHERE id = 2");
    subject.store.query(words, &[], &mut read).unwrap_err();
    let mut read = |row: &dyn ResultRow| row.text(0).map(drop);
    subject.store.query(words, &[], &mut read).unwrap_err();
    // An integer is a number.
    assert_eq!(subject.float("SELECT id FROM bulk WHERE id = 2"), Some(2.0));
}

fn expectations_change_no_answer(subject: &mut Subject) {
    let mean = subject.float("SELECT AVG(number) FROM bulk").unwrap();
    for step in [QueryKind::Point, QueryKind::Analytic, QueryKind::Point, QueryKind::Analytic] {
        subject.store.expect(step).unwrap();
        let again = subject.float("SELECT AVG(number) FROM bulk").unwrap();
        assert!((again - mean).abs() <= 1e-9 * mean);
        assert_eq!(subject.float("SELECT number FROM bulk WHERE id = 9"), Some(2.25));
    }
}

fn plans_are_told(subject: &mut Subject) {
    let (id, dialect) = (subject.engine.info().id, subject.store.dialect());
    let sql = format!("SELECT number FROM bulk WHERE id = {}", dialect.placeholder(1));
    let held = subject.int("SELECT COUNT(*) FROM bulk");
    let Some(plan) = subject.store.plan(&sql, &[Param::Int(9)]).unwrap() else {
        let tell = ["sqlite", "duckdb", "firebird", "parquet", "postgres", "mariadb"];
        return assert!(!tell.contains(&id), "{id} tells no plan");
    };
    let read = if id == "parquet" { "parquet" } else { "bulk" };
    assert!(plan.to_lowercase().contains(read), "{id}: {plan}");
    assert!(!plan.ends_with("\n\n") && plan.lines().all(|line| !line.trim().is_empty()), "{plan}");
    subject.store.plan("SELECT nonsense FROM nowhere", &[]).unwrap_err();
    assert_eq!(subject.int("SELECT COUNT(*) FROM bulk"), held);
}

/// Opens the subject's database again; a server's client connects again.
fn reopen(subject: &mut Subject) {
    if let Some(connected) = subject.store.reconnect() {
        return connected.unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let options = OpenOptions::new(dir.path(), subject.tier, 16 << 20);
    let meanwhile = sql(subject.engine.open(&options).unwrap());
    let store = Store::Sql(std::mem::replace(&mut subject.store, meanwhile));
    let reopener = Reopener::for_engine(subject.engine, subject.options.clone());
    let Store::Sql(store) = reopener.reopen(store).unwrap() else { panic!("no SQL store") };
    std::mem::replace(&mut subject.store, store).close().unwrap();
}

fn opens_again(subject: &mut Subject) {
    let table = table("again");
    subject.create(&table);
    for round in 1..4 {
        let old = subject.prepare("SELECT id FROM kept");
        subject.store.begin(Access::Write).unwrap();
        subject.insert(&table, 2 * round, 1.5).unwrap();
        subject.store.commit().unwrap();
        reopen(subject);
        assert!(subject.store.query(old, &[], &mut |_| Ok(())).is_err(), "a statement is known");
        assert_eq!(subject.count(&table), 2 * round - 1);
        subject.insert(&table, 2 * round + 1, 2.5).unwrap();
        assert_eq!(subject.count(&self::table("kept")), 3);
        assert_eq!(subject.count(&self::table("bulk")), LOADED);
    }
    expectations_change_no_answer(subject);
    subject.store.expect(QueryKind::Point).unwrap();
    reopen(subject);
    subject.store.expect(QueryKind::Analytic).unwrap();
    assert_eq!(subject.count(&table), 6);
}

/// The engines that recover from a log within their process.
const RECOVER: [&str; 4] = ["duckdb", "sqlite", "sqlite-library", "sqlite-plain"];

fn recovers(subject: &mut Subject) {
    let table = table("recovered");
    subject.create(&table);
    let id = subject.engine.info().id;
    let has_log = RECOVER.contains(&id) && subject.tier >= Durability::Process;
    match subject.store.suspend_checkpoints(1_000) {
        Ok(()) => assert!(has_log),
        Err(error) => assert!(error.is_unsupported() && !has_log, "{error}"),
    }
    for round in 1..4 {
        let before = has_log.then(|| subject.store.log_bytes().unwrap());
        subject.insert(&table, 2 * round, 1.5).unwrap();
        let after = has_log.then(|| subject.store.log_bytes().unwrap());
        // What was recovered may be in the previous log, and its space be used again.
        assert!(round > 1 || after > before || !has_log, "{before:?}, {after:?}");
        subject.store.begin(Access::Write).unwrap();
        subject.insert(&table, 2 * round + 1, 2.5).unwrap();
        subject.store.commit().unwrap();
        match subject.store.crash_on_close() {
            Ok(()) => {
                assert!(RECOVER.contains(&id) && subject.tier >= Durability::Process);
                reopen(subject);
            }
            Err(error) => {
                assert!(error.is_unsupported(), "{error}");
                assert!(!RECOVER.contains(&id) || subject.tier == Durability::None, "{error}");
            }
        }
        assert_eq!(subject.count(&table), 2 * round);
        assert_eq!(subject.count(&self::table("bulk")), LOADED);
    }
}

fn closed_databases_keep_everything(subject: Subject) {
    let Subject { engine, tier, options, store } = subject;
    store.close().unwrap();
    if engine.info().kind != Kind::Embedded {
        return;
    }
    let store = sql(engine.open(&options).unwrap());
    let mut subject = Subject { engine, tier, options, store };
    assert_eq!(subject.count(&table("bulk")), LOADED);
    assert_eq!(subject.count(&table("kept")), 3);
    subject.store.close().unwrap();
}
