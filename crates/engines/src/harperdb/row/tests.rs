use super::*;

type Seen = (Option<i64>, Option<f64>, Option<String>);

fn rows(json: &str, columns: &[&str]) -> Result<Vec<Seen>> {
    let mut seen = Vec::new();
    each(json.as_bytes(), &mut Cells::default(), columns, &mut |row| {
        seen.push((row.int(0)?, row.float(1)?, row.text(2)?.map(str::to_owned)));
        Ok(())
    })?;
    Ok(seen)
}

#[test]
fn rows_are_read_by_the_names_of_their_columns_in_any_order() {
    let json = r#"[{"c":"x\ny","b":2,"a":-1,"z":[{"a":7}]}, {"a":null,"q":{"b":5}},
        {"n":{"a":9,"m":{"b":1.5}},"a":3}]"#;
    let expected = vec![
        (Some(-1), Some(2.0), Some("x\ny".to_owned())),
        (None, None, None),
        (Some(3), None, None),
    ];
    assert_eq!(rows(json, &["a", "b", "c"]).unwrap(), expected);
    let nested = rows(json, &["n.a", "n.m.b", "c"]).unwrap();
    assert_eq!(nested[2], (Some(9), Some(1.5), None));
    assert_eq!(rows("[]", &["a", "b", "c"]).unwrap(), []);
}

#[test]
fn a_value_of_another_kind_is_an_error_that_says_what_there_is() {
    let failed = |json: &str| rows(json, &["a", "b", "c"]).unwrap_err().to_string();
    assert!(failed(r#"[{"a":1.5}]"#).contains("Float(1.5)"));
    assert!(failed(r#"[{"a":9007199254740994}]"#).contains("an integer"));
    assert!(failed(r#"[{"b":"x"}]"#).contains("a text"));
    assert!(failed(r#"[{"c":[1]}]"#).contains("a list"));
    assert!(failed(r#"[{"a":1"#).contains("EOF"));
    assert!(failed(r#"{"message":"x"}"#).contains("expected a list of rows"));
    assert!(failed("[7]").contains("no object") && failed("[[]]").contains("no object"));
    assert!(failed(r#"[{"a":1}] x"#).contains("trailing"));
}

#[test]
fn the_elements_of_a_list_are_rows_of_their_items() {
    let json = r#"[{"s":[[1,2],[-3,"x"],4,[]],"t":null,"a":7},{"a":8,"s":[]},{"s":{"b":[1]}}]"#;
    let mut seen = Vec::new();
    each(json.as_bytes(), &mut Cells::default(), &["a", "s", "t", "s.b"], &mut |row| {
        let (mut elements, mut texts) = (Vec::new(), Vec::new());
        let found = row.list(1, &mut |element| {
            elements.push((element.int(0).ok().flatten(), element.int(1).ok().flatten()));
            texts.push(element.text(1).ok().flatten().map(str::to_owned));
            Ok(())
        });
        seen.push((found.ok(), elements, texts, row.list(2, &mut |_| Ok(())).ok()));
        Ok(())
    })
    .unwrap();
    let elements = vec![(Some(1), Some(2)), (Some(-3), None), (Some(4), None), (None, None)];
    let texts = vec![None, Some("x".to_owned()), None, None];
    assert_eq!(seen[0], (Some(true), elements, texts, Some(false)));
    assert_eq!(seen[1], (Some(true), vec![], vec![], Some(false)));
    assert_eq!(seen[2], (None, vec![], vec![], Some(false)));
}

#[test]
fn the_entries_of_a_list_are_counted() {
    let counted = |json: &str| count(json.as_bytes());
    let json = r#"{"message":"[","inserted_hashes":[1,"a,b",[2]],"skipped_hashes":[1]}"#;
    assert_eq!(counted(json).unwrap(), 3);
    assert_eq!(counted(r#"{"deleted_hashes":[]}"#).unwrap(), 0);
    assert!(counted(r#"{"error":"x"}"#).is_err());
}
