//! Aggregation pipelines, read once from their text.

use mongodb::bson::{Array, Document, RawDocumentBuf, doc};

use super::NAME;
use crate::{EngineError, Result};

/// How many are remembered; a workload asks its questions in turn, each many times.
const KEPT: usize = 16;

/// Pipelines by their text, the one asked last in front.
#[derive(Default)]
pub(super) struct Pipelines {
    kept: Vec<(String, Vec<u8>)>,
}

impl Pipelines {
    /// The pipeline of that text as the element `pipeline` of a command.
    ///
    /// # Errors
    /// When the text is no JSON array of documents (MongoDB's extended JSON,
    /// <https://www.mongodb.com/docs/v6.0/reference/mongodb-extended-json/>).
    pub fn element(&mut self, text: &str) -> Result<&[u8]> {
        let at = match self.kept.iter().position(|(known, _)| known == text) {
            Some(at) => at,
            None => {
                let element = read(text).map_err(|why| {
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

fn read(text: &str) -> std::result::Result<Vec<u8>, String> {
    let stages: Vec<Document> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let stages: Array = stages.into_iter().map(Into::into).collect();
    let whole = RawDocumentBuf::try_from(&doc! { "pipeline": stages });
    let whole = whole.map_err(|e| e.to_string())?.into_bytes();
    // Without the length in front and the end: the element alone.
    Ok(whole[4..whole.len() - 1].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_becomes_the_same_stages_whether_it_is_remembered_or_not() {
        let mut pipelines = Pipelines::default();
        let text = r#"[{"$match": {"n": {"$gt": {"$numberLong": "5"}, "$lt": 2.5}}}]"#;
        let first = pipelines.element(text).unwrap().to_vec();
        for other in 0..KEPT + 5 {
            pipelines.element(&format!(r#"[{{"$limit": {}}}]"#, other + 1)).unwrap();
            assert_eq!(pipelines.kept.len(), KEPT.min(other + 2));
        }
        assert_eq!(pipelines.element(text).unwrap(), first);
        assert_eq!(pipelines.element(text).unwrap(), first);
        let expected = doc! { "pipeline": [{ "$match": { "n": { "$gt": 5_i64, "$lt": 2.5 } } }] };
        let whole = RawDocumentBuf::try_from(&expected).unwrap().into_bytes();
        assert_eq!(first, whole[4..whole.len() - 1]);
    }

    #[test]
    fn what_is_no_pipeline_is_an_error_with_its_place() {
        for text in ["", "{}", "[1]", "[{\"$match\": {}]"] {
            let error = Pipelines::default().element(text).unwrap_err().to_string();
            assert!(
                error.contains("mongodb could not read `") && error.contains("line 1"),
                "{error}"
            );
        }
    }
}
