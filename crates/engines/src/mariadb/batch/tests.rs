use super::*;
use crate::sql::Nullable;

const TABLE: TableDef = TableDef {
    name: "t",
    columns: &[
        ("i", SqlType::Int, Nullable::No),
        ("d", SqlType::Double, Nullable::Yes),
        ("w", SqlType::Text, Nullable::Yes),
    ],
    key: &["i"],
};

#[test]
fn a_value_takes_the_type_of_its_column() {
    let mut batch = Batch::new(&TABLE);
    let empty = batch.bytes();
    batch.push(&[Param::Int(-7), Param::Int(3), Param::Text("ß")]).unwrap();
    assert_eq!(batch.bytes() - empty, 32);
    batch.push(&[Param::Null, Param::Null, Param::Null]).unwrap();
    batch.push(&[Param::Int(8), Param::Float(0.5), Param::Text("")]).unwrap();
    batch.push(&[Param::Int(9), Param::Float(-0.5), Param::Text("late")]).unwrap();
    let [int, double, text] = &mut batch.columns[..] else { panic!("columns are missing") };
    assert!(matches!(&int.values, Values::Int(values) if *values == [-7, 0, 8, 9]));
    assert!(matches!(&double.values, Values::Double(values) if *values == [3.0, 0.0, 0.5, -0.5]));
    for column in [int, double] {
        assert_eq!(column.indicators, [0, 1, 0, 0]);
    }
    text.bind();
    let Values::Text(texts) = &text.values else { panic!("no texts") };
    assert_eq!((&*texts.bytes, &*texts.lengths), ("ßlate".as_bytes(), &[2, 0, 0, 4][..]));
    let first = texts.bytes.as_ptr();
    assert_eq!(texts.starts, [0, 2, 2, 2].map(|at| first.wrapping_add(at)));
    assert_eq!(batch.rows(), 4);
    batch.clear();
    assert!(batch.is_empty() && batch.bytes() == empty);
}

#[test]
fn a_row_that_does_not_fit_its_table_is_refused_by_the_name_of_the_column() {
    let bad: [(&[Param<'_>], &str); 4] = [
        (&[Param::Int(1)], "it has 1 values, the table 3 columns"),
        (&[Param::Int(1 << 31), Param::Null, Param::Null], "does not fit column i"),
        (&[Param::Int(1), Param::Float(f64::NAN), Param::Null], "as column d wants"),
        (&[Param::Int(1), Param::Null, Param::Int(5)], "as column w wants"),
    ];
    for (row, why) in bad {
        let error = Batch::new(&TABLE).push(row).unwrap_err().to_string();
        assert!(error.contains("load a row into t") && error.contains(why), "{error}");
    }
}
