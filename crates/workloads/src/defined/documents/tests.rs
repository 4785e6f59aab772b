use embermark_model::table::{Column, RowsFrom};

use super::*;

/// A column that is a field of a document.
pub fn within(document: &str, field: &str, of: ColumnType) -> Column {
    Column {
        within: Some(Box::new(Within {
            document: document.to_owned(),
            field: field.to_owned(),
            binary: false,
        })),
        nullable: true,
        ..Column::new(format!("{document}_{field}"), of)
    }
}

fn table() -> Table {
    Table {
        name: "t".to_owned(),
        columns: vec![
            Column::new("id", ColumnType::Int { bits: 32, signed: false }),
            within("data", "x", ColumnType::Float),
            within("data", "user", ColumnType::Text),
            within("more", "n", ColumnType::Int { bits: 64, signed: true }),
            Column::new("last", ColumnType::Bool),
        ],
        key: vec![0],
        indexes: Vec::new(),
        rows: RowsFrom::Made(1),
    }
}

fn documents() -> [Document; 2] {
    match &stored(&table())[..] {
        [Stored::Column(0), Stored::Document(a), Stored::Document(b), Stored::Column(4)] => {
            [a.clone(), b.clone()]
        }
        other => panic!("{other:?}"),
    }
}

fn written(document: &Document, row: &[Value<'_>]) -> String {
    let mut text = Vec::new();
    document.write(&|column| row[column], &mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn a_document_is_json_of_what_is_there_and_reads_back() {
    let [data, more] = documents();
    let null = Value::Null;
    for (x, user) in [
        (Value::Float(-7.25), Value::Text("Ada é")),
        (Value::Float(5.0), null),
        (null, Value::Text("")),
        (null, null),
        (Value::Float(1e300), null),
        (Value::Float(-1.5e-9), null),
        (Value::Float(0.1 + 0.2), null),
        (Value::Float(1.0), Value::Text("\"a\\ \"b\u{1}\n\\")),
        (null, Value::Text("é\\")),
    ] {
        let text = written(&data, &[Value::Int(1), x, user]);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            json.get("x").and_then(serde_json::Value::as_f64),
            match x {
                Value::Float(x) => Some(x),
                _ => None,
            }
        );
        let mut found = [null; 2];
        assert_eq!(
            data.read(&text, |at, value| {
                found[at] = value;
                true
            }),
            Some(()),
            "{text}"
        );
        assert_eq!(found, [x, user]);
    }
    assert_eq!(
        written(&data, &[null, Value::Float(0.5), Value::Text("a\"b\\\n")]),
        r#"{"x":0.5,"user":"a\"b\\\n"}"#
    );
    let large = Value::Int(i64::MIN);
    let text = written(&more, &[null, null, null, large]);
    more.read(&text, |_, value| {
        assert_eq!(value, large);
        true
    })
    .unwrap();
}

#[test]
fn what_is_no_such_document_is_refused() {
    let [data, _] = documents();
    for text in [
        "",
        "{",
        "[]",
        r#"{"x"}"#,
        r#"{"x":}"#,
        r#"{"x":1"#,
        r#"{"x":1,}"#,
        r#"{"x":1}x"#,
        r#"{"y":1}"#,
        r#"{"user":"a","x":1}"#,
        r#"{"x":--1}"#,
        r#"{"user":"\"#,
        r#"{"user":"\q"}"#,
    ] {
        assert_eq!(data.read(text, |_, _| true), None, "{text}");
    }
}

#[test]
fn documents_that_are_laid_out_are_taken_one_after_the_other() {
    let row = [Value::Int(1), Value::Float(2.0), Value::Null, Value::Int(3), Value::Int(0)];
    let mut bytes = Vec::new();
    lay(&stored(&table()), |column| row[column], &mut bytes);
    let mut rest = &*bytes;
    assert_eq!((laid(&mut rest), laid(&mut rest)), (r#"{"x":2}"#, r#"{"n":3}"#));
    assert!(rest.is_empty());
}
