//! Opens JSON with DuckDB.

use std::path::PathBuf;

use embermark_model::table::Literal;

use super::fields::object_field;
use super::options::{given, list, options};
use super::{Source, SourceField};
use crate::{DataError, compressed};

/// Number of JSON lines that determine its fields.
const SAMPLE: i64 = 20_480;

impl Source {
    /// Opens JSON files. They have no header, so `wanted` are the names of fields that they must
    /// have.
    pub(super) fn json(
        &mut self,
        paths: &[PathBuf],
        read: &[(String, Literal)],
        wanted: Option<&[&str]>,
    ) -> Result<(), DataError> {
        let others = options(read, &["format", "records"]);
        let format = match given(read, "format").and_then(Literal::as_text) {
            Some(format) => format.to_owned(),
            None => json_format(&compressed::head(&paths[0])?).to_owned(),
        };
        let is_lines = format == "newline_delimited" || format == "nd";
        let compression = compressed::detect(&paths[0])?.duckdb_name();
        let ignore = if is_lines { ", ignore_errors = true" } else { "" };
        let shared = format!(
            "{}, format = '{format}', compression = '{compression}'{ignore}{others}",
            list(paths)
        );
        // The first lines, or all if the first ones lack a wanted field.
        let samples: &[i64] = if wanted.is_some() { &[SAMPLE, -1] } else { &[-1] };
        for sample in samples {
            self.from =
                format!("read_json({shared}, sample_size = {sample}, union_by_name = true)");
            self.fields.clear();
            self.describe("json")?;
            if wanted.is_some_and(|wanted| wanted.iter().all(|name| self.field(name).is_ok())) {
                break;
            }
        }
        if self.fields.iter().any(|field| self.differs_in_case(&field.name)) {
            // Names that are equal for DuckDB.
            self.from = format!("read_json_objects({shared})");
            let keys = format!(
                "SELECT DISTINCT unnest(json_keys(json)) AS name FROM {} ORDER BY name",
                self.from
            );
            self.values.clone_from(&self.from);
            let names = self.texts(&keys)?.into_iter().flatten().flatten();
            self.fields = names.map(|name| object_field("json", name)).collect();
            self.has_broken = is_lines;
            return Ok(());
        }
        if matches!(&self.fields[..], [one] if one.name == "json") {
            // A line is not an object: the fields are those that are wanted.
            let Some(wanted) = wanted else { return Err(self.no_objects(&format)) };
            self.fields.clear();
            wanted.iter().try_for_each(|name| self.add_json(name, name, "$", "VARCHAR"))?;
        }
        // All top-level fields as they are written. Nested ones are extracted from them.
        let mut tops: Vec<&str> = Vec::new();
        for field in &self.fields {
            if !tops.iter().any(|top| top.eq_ignore_ascii_case(&field.type_name)) {
                tops.push(&field.type_name);
            }
        }
        let has_nested =
            |top: &str| self.fields.iter().any(|field| field.type_name == top && field.name != top);
        let read = |is_json: &dyn Fn(&str) -> bool| {
            let columns = tops.iter().map(|top| {
                let of = if is_json(top) { "JSON" } else { "VARCHAR" };
                format!("{}: '{of}'", Literal::Text((*top).to_owned()))
            });
            let columns = columns.collect::<Vec<_>>().join(", ");
            format!("read_json({shared}, records = 'true', columns = {{{columns}}})")
        };
        (self.from, self.values) = (read(&has_nested), read(&|_| true));
        for field in &mut self.fields {
            "VARCHAR".clone_into(&mut field.type_name);
        }
        self.has_broken = is_lines;
        Ok(())
    }

    /// Whether DuckDB has numbered a field of JSON, because its name differs from another one only
    /// in case.
    fn differs_in_case(&self, name: &str) -> bool {
        name.rsplit_once('_').is_some_and(|(base, number)| {
            let is_alike = |other: &SourceField| {
                other.type_name != base
                    && other.type_name.eq_ignore_ascii_case(base)
                    && other.type_name != name
            };
            number.parse::<u32>().is_ok() && self.fields.iter().any(is_alike)
        })
    }

    /// Returns the error for JSON whose rows are not objects, with a query that extracts them.
    fn no_objects(&self, format: &str) -> DataError {
        let of = self.texts(&format!("SELECT any_value(typeof(json)) FROM {}", self.from));
        let of = of.ok().and_then(|rows| rows.into_iter().flatten().next()?).unwrap_or_default();
        let path = Literal::Text(self.name.to_string_lossy().into_owned());
        self.not_tabular(if of.starts_with("MAP") {
            format!(
                "each of its rows is the value of a key: use --query \"SELECT unnest(map_entries(json), recursive \
                 := true) FROM read_json({path})\""
            )
        } else if of.ends_with(']') {
            format!(
                "its rows are lists: use --query \"SELECT json->>0 AS a, json->>1 AS b FROM \
                 read_json_objects({path}, format = '{format}')\""
            )
        } else {
            "not all of its lines are JSON objects: remove the others, or use a query that does".to_owned()
        })
    }
}

/// Recognises the format of a JSON file by its beginning.
fn json_format(head: &[u8]) -> &'static str {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_object = first.trim_ascii().ends_with(b"}");
    let within = head.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    let is_list = within.is_some_and(|within| !matches!(within, [b'{' | b'[' | b']', ..]));
    if within.is_some() && !(is_list && first.trim_ascii().ends_with(b"]")) {
        "array"
    } else if is_object && first.windows(2).any(|pair| pair == b"}{") {
        "unstructured"
    } else if is_object || !first.contains(&b'{') || first.len() > 1 << 16 {
        "newline_delimited"
    } else {
        "unstructured"
    }
}
