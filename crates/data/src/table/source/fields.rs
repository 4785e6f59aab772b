//! Fields of rows, including nested ones.

use embermark_model::table::Literal;

use super::Source;
use crate::DataError;

/// A field of the rows.
#[derive(Clone, Debug)]
pub(in crate::table) struct SourceField {
    /// Name. The name of a nested field has dots.
    pub(in crate::table) name: String,
    /// Expression for its value.
    pub(super) sql: String,
    /// Type in DuckDB.
    pub(in crate::table) type_name: String,
    /// Condition that a value is neither a text nor missing, over [`Source::values`]. `None` if the
    /// source declares the types of its columns, or has only texts.
    pub(super) is_other: Option<String>,
}

impl SourceField {
    /// Whether it is within another field.
    pub(in crate::table) fn is_nested(&self) -> bool {
        ["struct_extract(", "json_extract_string("].iter().any(|call| self.sql.contains(call))
    }

    /// Returns the expression of its value for a column of texts, or of another type.
    pub(in crate::table) fn sql(&self, for_text: bool) -> String {
        match for_text && !matches!(&*self.type_name, "VARCHAR" | "BLOB") {
            true => format!("CAST({} AS VARCHAR)", self.sql),
            false => self.sql.clone(),
        }
    }
}

/// Types of DuckDB whose values are read as they are.
const KEPT: &str = "\
    BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|FLOAT|DOUBLE|VARCHAR\
    |BLOB|TIMESTAMP|TIMESTAMP_NS|TIMESTAMP WITH TIME ZONE";

/// Quotes a name for SQL.
pub(in crate::table) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns the condition that a value of JSON is a number or a truth value.
fn is_scalar(column: &str, path: &Literal) -> String {
    format!("(json_type({column}, {path}) IN ('BIGINT', 'UBIGINT', 'DOUBLE', 'BOOLEAN'))")
}

/// Makes a field of a JSON object.
pub(super) fn object_field(column: &str, name: String) -> SourceField {
    let path = Literal::Text(format!("$.\"{}\"", name.replace('"', "\\\"")));
    let sql = format!("json_extract_string({column}, {path})");
    let is_other = Some(is_scalar(column, &path));
    SourceField { name, sql, type_name: "VARCHAR".to_owned(), is_other }
}

impl Source {
    /// Returns the fields of a structure: names and types. `None` for another type.
    fn members(&self, of: &str) -> Result<Option<Vec<(String, String)>>, DataError> {
        if !(of.starts_with("STRUCT(") && of.ends_with(')')) {
            return Ok(None);
        }
        let described = self.texts(&format!("DESCRIBE SELECT unnest(NULL::{of})"))?;
        let member = |row: Vec<Option<String>>| {
            let mut row = row.into_iter().flatten();
            Some((row.next()?, row.next()?))
        };
        Ok(Some(described.into_iter().filter_map(member).collect()))
    }

    /// Adds a column of Parquet or of a query, or its nested fields.
    pub(super) fn add(&mut self, name: &str, sql: &str, of: &str) -> Result<(), DataError> {
        if let Some(members) = self.members(of)? {
            for (member, of) in members {
                let sql = format!("struct_extract({sql}, {})", Literal::Text(member.clone()));
                self.add(&format!("{name}.{member}"), &sql, &of)?;
            }
            return Ok(());
        }
        let is_nested = of.ends_with(']') || of.starts_with("MAP(") || of.starts_with("UNION(");
        let (sql, of) = match of {
            _ if KEPT.split('|').any(|kept| kept == of) => (sql.to_owned(), of),
            "DATE" | "TIMESTAMP_S" | "TIMESTAMP_MS" => {
                (format!("CAST({sql} AS TIMESTAMP)"), "TIMESTAMP")
            }
            _ if is_nested => (format!("CAST(to_json({sql}) AS VARCHAR)"), "VARCHAR"),
            _ => (format!("CAST({sql} AS VARCHAR)"), "VARCHAR"),
        };
        let (name, type_name) = (name.to_owned(), of.to_owned());
        self.fields.push(SourceField { name, sql, type_name, is_other: None });
        Ok(())
    }

    /// Adds a field of JSON, or its nested fields. It is found by its path below the column of the
    /// top-level field, whose name takes the place of the type.
    pub(super) fn add_json(
        &mut self,
        top: &str,
        name: &str,
        path: &str,
        of: &str,
    ) -> Result<(), DataError> {
        if let Some(members) = self.members(of)? {
            for (member, of) in members {
                let path = format!("{path}.\"{}\"", member.replace('"', "\\\""));
                self.add_json(top, &format!("{name}.{member}"), &path, &of)?;
            }
            return Ok(());
        }
        let (column, at) = (quoted(top), Literal::Text(path.to_owned()));
        let sql = match path {
            "$" => format!("{column}::VARCHAR"),
            _ => format!("json_extract_string({column}, {at})"),
        };
        let is_other = Some(is_scalar(&column, &at));
        let (name, type_name) = (name.to_owned(), top.to_owned());
        self.fields.push(SourceField { name, sql, type_name, is_other });
        Ok(())
    }
}
