use super::super::bson::Writer;
use super::super::library::library;
use super::*;

#[test]
fn a_text_becomes_the_same_stages_whether_it_is_remembered_or_not() {
    let Ok(library) = library() else { return println!("skipped: no libmongoc") };
    let mut pipelines = Pipelines::default();
    let text = r#"[{"$match": {"n": {"$gt": {"$numberLong": "5"}, "$lt": 2.5}}}]"#;
    let first = pipelines.element(text).unwrap().to_vec();
    for other in 0..KEPT + 5 {
        pipelines.element(&format!(r#"[{{"$limit": {}}}]"#, other + 1)).unwrap();
        assert_eq!(pipelines.kept.len(), KEPT.min(other + 2));
    }
    assert_eq!(pipelines.element(text).unwrap(), first);
    assert_eq!(pipelines.element(text).unwrap(), first);
    let whole = Owned::of_json(library, &format!(r#"{{"pipeline": {text}}}"#)).unwrap();
    let whole = whole.bytes();
    assert_eq!(first, whole[4..whole.len() - 1]);
    // Five as 64 bits, two and a half as a double.
    let mut range = Writer::new(0);
    range.list("pipeline", |stages| {
        stages.within("0", |stage| {
            stage.within("$match", |filter| {
                filter.within("n", |n| {
                    n.int64("$gt", 5);
                    n.value("$lt", &crate::document::Value::Float(2.5));
                });
            });
        });
    });
    assert_eq!(range.finish().unwrap(), whole);
}

#[test]
fn what_is_no_pipeline_is_an_error_with_its_place() {
    if library().is_err() {
        return println!("skipped: no libmongoc");
    }
    let texts = [
        ("", "begins with no `[`"),
        ("{}", "begins with no `[`"),
        ("[1]", "no document"),
        ("[{\"$match\": {}]", "position 14"),
        ("[{}], \"x\": 1", "position 6"),
    ];
    for (text, place) in texts {
        let error = Pipelines::default().element(text).unwrap_err().to_string();
        assert!(error.contains("mongodb could not read `") && error.contains(place), "{error}");
    }
}
