//! Opens delimited text with DuckDB.

use std::path::PathBuf;

use embermark_model::table::Literal;
use itertools::Itertools;

use super::fields::quoted;
use super::options::{given, list, options};
use super::{Dialect, Source, SourceField, database, dialect, files};
use crate::{DataError, compressed};

impl Source {
    /// Opens CSV files. With `guesses`, an encoding is recognised by bytes that are not UTF-8.
    pub(super) fn csv(
        &mut self,
        paths: &[PathBuf],
        read: &[(String, Literal)],
        guesses: bool,
    ) -> Result<(), DataError> {
        let others = options(read, &dialect::OPTIONS);
        let mut groups: Vec<(Dialect, Vec<PathBuf>)> = Vec::new();
        for path in paths {
            let dialect = Dialect::detect(&compressed::head(path)?, read, guesses)
                .map_err(|what| DataError::not_tabular(path, what))?;
            match groups.last_mut() {
                Some((last, paths)) if *last == dialect => paths.push(path.clone()),
                _ => groups.push((dialect, vec![path.clone()])),
            }
        }
        let names = groups.iter().flat_map(|(dialect, _)| &dialect.names);
        let names: Vec<String> = names.unique().cloned().collect();
        let mut folders = files::partitions(paths);
        folders.retain(|name| !names.contains(name));
        let partitions = match folders.is_empty() {
            true => "",
            false => ", hive_partitioning = true, hive_types_autocast = false",
        };
        let mut parts = Vec::new();
        for (dialect, paths) in &groups {
            let fields = names.iter().enumerate().map(|(at, name)| {
                match dialect.names.iter().position(|other| other == name) {
                    Some(place) => format!("c{place} AS f{at}"),
                    None => format!("NULL::VARCHAR AS f{at}"),
                }
            });
            let places = (names.len()..).zip(&folders);
            let fields =
                fields.chain(places.map(|(at, name)| format!("{} AS f{at}", quoted(name))));
            let comment = if dialect.comments { ", comment = '#'" } else { "" };
            let compression = match given(read, "compression") {
                Some(_) => String::new(),
                None => {
                    let compression = compressed::detect(&paths[0])?;
                    format!(", compression = '{}'", compression.duckdb_name())
                }
            };
            let buffer = match read.iter().any(|(name, _)| database::sets_buffer(name)) {
                true => String::new(),
                false => format!(", buffer_size = {0}, max_line_size = {0}", self.lengths.buffer),
            };
            parts.push(format!(
                "SELECT {} FROM read_csv({}, {}{comment}{compression}{buffer}{partitions}, ignore_errors = true, \
                 store_rejects = true{others})",
                fields.collect::<Vec<_>>().join(", "),
                list(paths),
                dialect.options(dialect.names.len()),
            ));
        }
        self.from = format!("({})", parts.join(" UNION ALL "));
        let field = |(at, name): (usize, String)| SourceField {
            name,
            sql: format!("f{at}"),
            type_name: "VARCHAR".to_owned(),
            is_other: None,
        };
        self.fields = names.into_iter().chain(folders).enumerate().map(field).collect();
        let is_alike = |(other, _): &(Dialect, _)| groups[0].0.is_written_as(other);
        self.dialects_differ = !groups.iter().all(is_alike);
        self.dialect = groups.into_iter().next().map(|(dialect, _)| dialect);
        Ok(())
    }
}
