//! What the server or the driver says of a command that failed.

use std::fmt;

use super::answer::Document;

/// The server's code for a collection that is not there, `NamespaceNotFound`.
const NAMESPACE_NOT_FOUND: i64 = 26;

/// The server's code for a change that another client's kept it from, `WriteConflict`.
const WRITE_CONFLICT: i64 = 112;

/// The server's word for work that may be done again from the beginning.
const MAY_BE_DONE_AGAIN: &str = "TransientTransactionError";

/// A command that failed. Small, because it crosses the hot path.
#[derive(Debug)]
pub(super) struct Failure(Box<Cause>);

#[derive(Debug)]
struct Cause {
    /// The server's, where it was the server.
    code: Option<i64>,
    may_be_done_again: bool,
    words: String,
}

impl Failure {
    /// The driver's own, or ours.
    pub fn of(words: impl Into<String>) -> Self {
        Self(Box::new(Cause { code: None, may_be_done_again: false, words: words.into() }))
    }

    /// The one that an answer tells, if it does: of the command as a whole.
    pub fn told(answer: Document<'_>) -> Option<Self> {
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

    /// The one of a write, which was refused in part or as a whole: its answer says so, and is no
    /// error.
    pub fn of_write(answer: Document<'_>) -> Option<Self> {
        let error = match answer.get("writeErrors").and_then(|errors| errors.as_list()) {
            Some(errors) => errors.into_iter().next()?.ok()?.1.as_document()?,
            None => answer.get("writeConcernError")?.as_document()?,
        };
        let message = error.text("errmsg").unwrap_or("no reason given");
        Some(Self::of(match error.get("code") {
            Some(code) => format!("error {code}: {message}"),
            None => message.to_owned(),
        }))
    }

    /// Whether a collection was not there.
    pub fn is_of_absence(&self) -> bool {
        self.0.code == Some(NAMESPACE_NOT_FOUND)
    }

    /// Whether the change was refused for the sake of another client's, and none of it was made.
    pub fn is_conflict(&self) -> bool {
        self.0.code == Some(WRITE_CONFLICT) || self.0.may_be_done_again
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.words)
    }
}

#[cfg(test)]
mod tests {
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
}
