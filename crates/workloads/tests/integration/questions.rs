//! Questions in SQL: engines are compared with the earlier answers of referees, and a lie is
//! detected.

use std::path::Path;

use crate::common::{connecting, options, store};
use embermark_engines::sql::{
    Access, Dialect, Param, QueryKind, ResultRow, Rows, SqlStore, Statement, TableDef, Visit,
};
use embermark_engines::{Lifecycle, Result, Store, registry};
use embermark_language::{BUILT_IN, parse};
use embermark_meter::Meter;
use embermark_model::Scale;
use embermark_model::plan::DataSource;
use embermark_skips::sampled;
use embermark_workloads::defined::Defined;
use embermark_workloads::{CheckError, Passed, Spec, Workload};

const REFEREES: &[&str] = &["sqlite", "duckdb"];

/// How a result can be false.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// A number is too large by one.
    Adds,
    /// The last row is missing.
    Loses,
    /// The first row comes last.
    Turns,
    /// Texts are in capitals.
    Shouts,
}

/// A store that falsifies the answer to its last question.
struct Liar {
    honest: Box<dyn SqlStore>,
    lie: Lie,
}

/// A copy of a row of a result.
#[derive(Clone)]
struct Kept(Vec<Value>);

#[derive(Clone)]
enum Value {
    Null,
    Int(i64),
    Float(f64),
    Text(String),
}

impl ResultRow for Kept {
    fn int(&self, _: usize) -> Result<Option<i64>> {
        unreachable!("a question is read by its columns of any kind")
    }

    fn float(&self, _: usize) -> Result<Option<f64>> {
        unreachable!("a question is read by its columns of any kind")
    }

    fn text(&self, _: usize) -> Result<Option<&str>> {
        unreachable!("a question is read by its columns of any kind")
    }

    fn columns(&self) -> Result<usize> {
        Ok(self.0.len())
    }

    fn any<'a>(&'a self, column: usize, _: &'a mut String) -> Result<Param<'a>> {
        Ok(match &self.0[column] {
            Value::Null => Param::Null,
            Value::Int(value) => Param::Int(*value),
            Value::Float(value) => Param::Float(*value),
            Value::Text(text) => Param::Text(text),
        })
    }
}

impl Lifecycle for Liar {
    fn maintain(&mut self) -> Result<()> {
        self.honest.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.honest.close()
    }
}

impl SqlStore for Liar {
    fn dialect(&self) -> &'static dyn Dialect {
        self.honest.dialect()
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.honest.batch(sql)
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement> {
        self.honest.prepare(sql)
    }

    fn prepare_untrusted(&mut self, sql: &str) -> Result<Statement> {
        self.honest.prepare_untrusted(sql)
    }

    fn run(&mut self, statement: Statement, params: &[Param<'_>]) -> Result<u64> {
        self.honest.run(statement, params)
    }

    fn query(
        &mut self,
        statement: Statement,
        params: &[Param<'_>],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let mut rows: Vec<Kept> = Vec::new();
        self.honest.query(statement, params, &mut |row| {
            let mut room = String::new();
            let mut values = Vec::new();
            for column in 0..row.columns()? {
                values.push(match (row.any(column, &mut room)?, self.lie) {
                    (Param::Int(value), Lie::Adds) => Value::Int(value + 1),
                    (Param::Int(value), _) => Value::Int(value),
                    (Param::Float(value), _) => Value::Float(value),
                    (Param::Text(text), Lie::Shouts) => Value::Text(text.to_uppercase()),
                    (Param::Text(text), _) => Value::Text(text.to_owned()),
                    (Param::Null | Param::Bytes(_), _) => Value::Null,
                });
            }
            rows.push(Kept(values));
            Ok(())
        })?;
        match self.lie {
            Lie::Loses => drop(rows.pop()),
            Lie::Turns => rows.rotate_left(1),
            _ => {}
        }
        rows.iter().try_for_each(|row| visit(row))
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.honest.begin(access)
    }

    fn commit(&mut self) -> Result<()> {
        self.honest.commit()
    }

    fn roll_back(&mut self) -> Result<()> {
        self.honest.roll_back()
    }

    fn bulk_insert(&mut self, table: &TableDef, rows: &mut dyn Rows) -> Result<u64> {
        self.honest.bulk_insert(table, rows)
    }

    fn bulk_sorted(&self) -> bool {
        self.honest.bulk_sorted()
    }

    fn expect(&mut self, step: QueryKind) -> Result<()> {
        self.honest.expect(step)
    }
}

/// The result of a question.
type Verdict = std::result::Result<Passed, CheckError>;

/// Asks an engine a question of a workload over staged rows. Returns `None` if the engine is
/// missing.
fn ask(workload: &dyn Workload, spec: &Spec, question: &str, lie: Lie) -> Option<Verdict> {
    let (_dir, mut options) = options();
    let engine = registry::find(&spec.engine).unwrap();
    let Store::Sql(honest) = store(engine, &mut options)? else {
        panic!("no SQL: {spec:?}", spec = spec.engine)
    };
    let store = match lie {
        Lie::None => Store::Sql(honest),
        lie => Store::Sql(Box::new(Liar { honest, lie })),
    };
    let mut bench = workload.prepare(spec).unwrap().open(store, connecting()).unwrap();
    let place = bench.phases().iter().position(|phase| phase.name == question).unwrap();
    let mut meter = Meter::new(None);
    bench.ready(place).unwrap();
    let answer = bench.run(place, &mut meter).unwrap();
    let checked = bench.check(place, &answer, meter.measured());
    bench.finish().unwrap();
    Some(checked)
}

fn staged(text: &str, rows: u64, folder: &Path) -> (&'static dyn Workload, Spec) {
    let engines: Vec<&str> = registry::ENGINES.iter().map(|engine| engine.info().id).collect();
    let definition = parse("test.toml", text, &engines).unwrap_or_else(|e| panic!("{e}"));
    let workload = Defined::leak(definition, folder.to_owned(), 0.01);
    let file = folder.join("test.rows");
    let source = workload.source(&DataSource::Synthetic, 42).unwrap();
    source.stage(Scale::Rows(rows), &file).unwrap();
    (workload, Spec { referees: REFEREES, ..Spec::of(file, "as-written", 7) })
}

/// Lets the referees answer a question.
fn referee(workload: &dyn Workload, spec: &Spec, question: &str) -> bool {
    REFEREES.iter().all(|id| {
        let spec = Spec { engine: (*id).to_owned(), is_referee: true, ..spec.clone() };
        let asked = ask(workload, &spec, question, Lie::None);
        asked.is_some_and(|verdict| verdict.is_ok())
    })
}

#[test]
fn a_join_of_two_tables_is_held_to_the_referees_and_every_lie_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let (_, shop) = BUILT_IN.iter().find(|(id, _)| *id == "shop").unwrap();
    let (workload, spec) = staged(shop, 2_000, folder.path());
    assert_eq!(workload.questions(), ["cities"]);
    let of = |id: &str| Spec { engine: id.to_owned(), ..spec.clone() };
    // Before any referee has answered, the answer is kept, and nobody is accused.
    let Some(before) = ask(workload, &of("sqlite"), "cities", Lie::None) else { return };
    let before = before.unwrap();
    assert_eq!(before.by, None);
    let kept = before.unchecked.unwrap();
    assert_eq!((kept.columns, kept.ordered, kept.rows().count()), (3, true, 10));
    if !referee(workload, &spec, "cities") {
        return;
    }
    let servers = sampled(["postgres", "mariadb"], 1);
    for id in ["sqlite", "duckdb"].into_iter().chain(servers) {
        let Some(verdict) = ask(workload, &of(id), "cities", Lie::None) else { continue };
        let checked = verdict.unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!(checked.by.as_deref(), Some("agreed by sqlite and duckdb"));
        assert_eq!(checked.unchecked, None);
    }
    for lie in [Lie::Adds, Lie::Loses, Lie::Turns, Lie::Shouts] {
        let error = ask(workload, &of("sqlite"), "cities", lie).unwrap().unwrap_err();
        assert!(matches!(error, CheckError::Wrong(_)), "{lie:?}: {error}");
    }
}

const UNORDERED: &str = r#"
name = "unordered"
[table.readings]
rows = 500
key = ["id"]
[table.readings.columns]
id = { type = "u32", make = "sequence" }
kind = { type = "text?", make = "choice", values = ["a", "b", ""], absent = 0.3 }
temp = { type = "f64?", make = "random", from = -10.0, to = 30.0, absent = 0.2 }
[phase.kinds]
sql = "SELECT kind, COUNT(*), AVG(temp), MIN(temp) FROM readings GROUP BY kind"
[phase.nothing]
sql = "SELECT id, temp FROM readings WHERE id < 0"
"#;

#[test]
fn without_an_order_rows_may_come_in_any_and_are_missed_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (workload, spec) = staged(UNORDERED, 500, folder.path());
    if !referee(workload, &spec, "kinds") || !referee(workload, &spec, "nothing") {
        return;
    }
    let spec = Spec { engine: "duckdb".to_owned(), ..spec };
    for lie in [Lie::None, Lie::Turns] {
        let verdict = ask(workload, &spec, "kinds", lie).unwrap();
        verdict.unwrap_or_else(|error| panic!("{lie:?}: {error}"));
    }
    for lie in [Lie::Adds, Lie::Loses, Lie::Shouts] {
        let verdict = ask(workload, &spec, "kinds", lie).unwrap();
        assert!(matches!(verdict, Err(CheckError::Wrong(_))), "{lie:?}");
    }
    ask(workload, &spec, "nothing", Lie::None).unwrap().unwrap();
}
