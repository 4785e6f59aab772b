//! Aggregation pipelines, parsed once from their text.

use super::NAME;
use super::bson::ARRAY;
use super::failure::Failure;
use super::library::{LIBRARY, MongoLib};
use super::owned::Owned;
use crate::{EngineError, Result};

/// Number of pipelines that are remembered. A workload asks its questions in turn, each many times.
const KEPT: usize = 16;

/// Pipelines by their text, most recent first.
#[derive(Default)]
pub(super) struct Pipelines {
    kept: Vec<(String, Vec<u8>)>,
}

impl Pipelines {
    /// Returns the pipeline of this text as the element `pipeline` of a command. Fails if the
    /// driver cannot parse the text as a JSON array of documents (MongoDB's extended JSON,
    /// <https://www.mongodb.com/docs/v6.0/reference/mongodb-extended-json/>).
    pub fn element(&mut self, text: &str) -> Result<&[u8]> {
        let at = match self.kept.iter().position(|(known, _)| known == text) {
            Some(at) => at,
            None => {
                let element = read(LIBRARY.get()?, text).map_err(|why| {
                    let wanted = "a pipeline is a JSON array of stages";
                    EngineError::failed(NAME, format!("read `{text}`"), format!("{why}; {wanted}"))
                })?;
                self.kept.truncate(KEPT - 1);
                self.kept.push((text.to_owned(), element));
                self.kept.len() - 1
            }
        };
        self.kept[..=at].rotate_right(1);
        Ok(&self.kept[0].1)
    }
}

/// The driver parses an array as a document with numbers as names, which is what a list is.
fn read(library: &'static MongoLib, text: &str) -> std::result::Result<Vec<u8>, Failure> {
    if !text.trim_start().starts_with('[') {
        return Err(Failure::new("it begins with no `[`"));
    }
    let list = Owned::of_json(library, text)?;
    for stage in list.document()? {
        if stage?.1.as_document().is_none() {
            return Err(Failure::new("a stage is not a document"));
        }
    }
    let mut element = vec![ARRAY];
    element.extend(b"pipeline\0");
    element.extend(list.bytes());
    Ok(element)
}

#[cfg(test)]
mod tests {
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
            ("[1]", "not a document"),
            ("[{\"$match\": {}]", "position 14"),
            ("[{}], \"x\": 1", "position 6"),
        ];
        for (text, place) in texts {
            let error = Pipelines::default().element(text).unwrap_err().to_string();
            assert!(error.contains("mongodb could not read `") && error.contains(place), "{error}");
        }
    }
}
