//! Errors that an answer reports.

use super::super::answer::Document;
use super::{Cause, Failure};

/// The server's label of work that can be repeated from the beginning.
const MAY_BE_DONE_AGAIN: &str = "TransientTransactionError";

impl Failure {
    /// Returns the error in an answer, if the whole command failed.
    pub fn from_answer(answer: Document<'_>) -> Option<Self> {
        let (code, message) = (answer.integer("code"), answer.text("errmsg")?);
        let words = match (code, answer.text("codeName")) {
            (Some(code), Some(name)) => format!("{name} ({code}): {message}"),
            (Some(code), None) => format!("error {code}: {message}"),
            (None, _) => message.to_owned(),
        };
        let labels = answer.get("errorLabels").and_then(|labels| labels.as_list());
        let may_be_done_again = labels.is_some_and(|labels| {
            let mut labels = labels.into_iter().map_while(Result::ok);
            labels.any(|(_, label)| label.as_text() == Some(MAY_BE_DONE_AGAIN))
        });
        Some(Self(Box::new(Cause { code, may_be_done_again, words })))
    }

    /// Returns the error of a write that was refused partly or completely. Its answer reports that,
    /// and is not an error.
    pub fn of_write(answer: Document<'_>) -> Option<Self> {
        let error = match answer.get("writeErrors").and_then(|errors| errors.as_list()) {
            Some(errors) => errors.into_iter().next()?.ok()?.1.as_document()?,
            None => answer.get("writeConcernError")?.as_document()?,
        };
        let message = error.text("errmsg").unwrap_or("no reason given");
        Some(Self::new(match error.get("code") {
            Some(code) => format!("error {code}: {message}"),
            None => message.to_owned(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mongodb::library::library;
    use crate::mongodb::owned::Owned;

    #[test]
    fn an_answer_tells_by_its_code_and_labels_what_happened() {
        let Ok(library) = library() else { return println!("skipped: no libmongoc") };
        let told = |json: &str| {
            let answer = Owned::of_json(library, json).unwrap();
            Failure::from_answer(answer.document().unwrap())
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
}
