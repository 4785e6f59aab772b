//! Errors of the server or the driver.

use super::answer::Document;

/// The server's code for a missing collection, `NamespaceNotFound`.
const NAMESPACE_NOT_FOUND: i64 = 26;

/// The server's code for a change that conflicts with another client's, `WriteConflict`.
const WRITE_CONFLICT: i64 = 112;

/// The server's label of work that can be repeated from the beginning.
const MAY_BE_DONE_AGAIN: &str = "TransientTransactionError";

/// A command that failed. It is small, because it is part of hot paths.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) struct Failure(Box<Cause>);

#[derive(Debug, thiserror::Error)]
#[error("{words}")]
struct Cause {
    /// The server's code, if the error is the server's.
    code: Option<i64>,
    may_be_done_again: bool,
    words: String,
}

/// A result of a command.
pub(super) type Answer<T> = Result<T, Failure>;

impl Failure {
    /// Creates an error of the driver or of this adapter.
    pub fn new(words: impl Into<String>) -> Self {
        Self(Box::new(Cause { code: None, may_be_done_again: false, words: words.into() }))
    }

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

    /// Returns whether a collection was missing.
    pub fn is_of_absence(&self) -> bool {
        self.0.code == Some(NAMESPACE_NOT_FOUND)
    }

    /// Returns whether the change was refused because of another client's, and none of it was made.
    pub fn is_conflict(&self) -> bool {
        self.0.code == Some(WRITE_CONFLICT) || self.0.may_be_done_again
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
