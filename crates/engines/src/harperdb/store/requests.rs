//! Requests that find documents, and requests that change the documents found.

use super::super::{NAME, filter, key, request};
use super::{BYTES, HarperStore, Keys, RECORDS};
use crate::document::{CollectionDef, Filter, Value};
use crate::{EngineError, Result};

impl HarperStore {
    /// Begins a search; the attributes to return follow.
    pub fn search(&mut self, def: &CollectionDef, filter: &Filter<'_>) -> Result<()> {
        if let Filter::Key(values) = filter {
            let out = self.session.begin("search_by_id", def.name).raw(",\"ids\":[");
            let out = &mut out.body;
            key::write(def, out, values)?;
            out.extend_from_slice(b"],\"get_attributes\":");
            return Ok(());
        }
        let request = self.session.begin("search_by_conditions", def.name);
        request.raw(",\"conditions\":[");
        filter::conditions(&mut request.body, def, filter)?;
        request.raw("],\"get_attributes\":");
        Ok(())
    }

    /// Returns the keys of the documents that match a filter.
    pub fn keys(&mut self, def: &CollectionDef, filter: &Filter<'_>) -> Result<Keys> {
        self.search(def, filter)?;
        let attribute = [key::attribute(def)];
        self.session.request.json(&attribute).raw("}");
        let (mut keys, mut ends) = (Vec::new(), Vec::new());
        self.session.rows(&attribute, &mut |row| {
            let of = match (row.text(0), row.int(0)) {
                (Ok(Some(text)), _) => Value::Text(text),
                (_, Ok(Some(int))) => Value::Int(int),
                _ => row.float(0)?.map_or(Value::Null, Value::Float),
            };
            request::write_value(&mut keys, of)?;
            ends.push(keys.len());
            Ok(())
        })?;
        Ok((keys, ends))
    }

    /// Sends an operation for each key, many in one request, as `record` writes them, and returns
    /// the sum of the counts in the answers.
    pub fn for_keys(
        &mut self,
        (operation, table, list): (&str, &str, &str),
        (keys, ends): &Keys,
        mut record: impl FnMut(&mut request::Request, &str) -> Result<()>,
    ) -> Result<u64> {
        let (mut count, mut from, mut left) = (0, 0, RECORDS);
        for (n, end) in ends.iter().enumerate() {
            if left == RECORDS {
                self.session.begin(operation, table).raw(list);
            } else {
                self.session.request.raw(",");
            }
            left -= 1;
            let key = std::str::from_utf8(&keys[from..*end])
                .map_err(|error| EngineError::failed(NAME, "read a key", error))?;
            record(&mut self.session.request, key)?;
            from = *end;
            if left == 0 || n + 1 == ends.len() || self.session.request.body.len() > BYTES {
                self.session.request.raw("]}");
                count += self.session.count()?;
                left = RECORDS;
            }
        }
        Ok(count)
    }
}
