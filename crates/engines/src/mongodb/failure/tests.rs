use super::super::library::library;
use super::super::owned::Owned;
use super::*;

#[test]
fn an_answer_tells_by_its_code_and_labels_what_happened() {
    let Ok(library) = library() else { return println!("skipped: no libmongoc") };
    let told = |json: &str| {
        let answer = Owned::of_json(library, json).unwrap();
        Failure::told(answer.document().unwrap())
    };
    let text = r#"{"ok": 0, "code": 112, "codeName": "WriteConflict", "errmsg": "try again"}"#;
    let conflict = told(text).unwrap();
    assert!(conflict.is_conflict() && !conflict.is_of_absence());
    assert_eq!(conflict.to_string(), "WriteConflict (112): try again");
    let text = r#"{"ok": 0, "code": 251, "errmsg": "x", "errorLabels": ["A", "TransientTransactionError"]}"#;
    assert!(told(text).unwrap().is_conflict());
    let absent = told(r#"{"ok": 0, "code": 26, "errmsg": "WriteConflict (112)"}"#).unwrap();
    assert!(absent.is_of_absence() && !absent.is_conflict());
    assert_eq!(absent.to_string(), "error 26: WriteConflict (112)");
    assert_eq!(told(r#"{"errmsg": "alone"}"#).unwrap().to_string(), "alone");
    assert!(told(r#"{"ok": 1}"#).is_none());
}

#[test]
fn a_write_that_was_refused_says_so_in_its_answer() {
    let Ok(library) = library() else { return println!("skipped: no libmongoc") };
    let refused = |json: &str| {
        let answer = Owned::of_json(library, json).unwrap();
        Failure::of_write(answer.document().unwrap()).map(|failure| failure.to_string())
    };
    assert_eq!(refused(r#"{"n": 1, "ok": 1}"#), None);
    let text = r#"{"n": 0, "writeErrors": [{"index": 0, "code": 11000, "errmsg": "twice"}]}"#;
    assert_eq!(refused(text).unwrap(), "error 11000: twice");
    let text = r#"{"n": 1, "writeConcernError": {"code": 64, "errmsg": "late"}}"#;
    assert_eq!(refused(text).unwrap(), "error 64: late");
    assert_eq!(refused(r#"{"writeErrors": [{}]}"#).unwrap(), "no reason given");
}
