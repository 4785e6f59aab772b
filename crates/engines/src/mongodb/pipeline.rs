//! Aggregation pipelines, read once from their text.

use super::NAME;
use super::bson::ARRAY;
use super::failure::Failure;
use super::library::{LIBRARY, MongoLib};
use super::owned::Owned;
use crate::{EngineError, Result};

/// How many are remembered; a workload asks its questions in turn, each many times.
const KEPT: usize = 16;

/// Pipelines by their text, the one asked last in front.
#[derive(Default)]
pub(super) struct Pipelines {
    kept: Vec<(String, Vec<u8>)>,
}

impl Pipelines {
    /// The pipeline of that text as the element `pipeline` of a command. Fails when the driver
    /// finds no JSON array of documents in the text (MongoDB's extended JSON,
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

/// The driver reads an array as a document whose names are numbers, which is what a list is.
fn read(library: &'static MongoLib, text: &str) -> std::result::Result<Vec<u8>, Failure> {
    if !text.trim_start().starts_with('[') {
        return Err(Failure::of("it begins with no `[`"));
    }
    let list = Owned::of_json(library, text)?;
    for stage in list.document()? {
        if stage?.1.as_document().is_none() {
            return Err(Failure::of("a stage is no document"));
        }
    }
    let mut element = vec![ARRAY];
    element.extend(b"pipeline\0");
    element.extend(list.bytes());
    Ok(element)
}

#[cfg(test)]
mod tests;
