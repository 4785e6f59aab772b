//! Fields of rows, those within others among them.

use embermark_model::table::Literal;

/// A field of the rows.
#[derive(Clone, Debug)]
pub(in crate::table) struct SourceField {
    /// Its name; of a field within others, these with dots.
    pub(in crate::table) name: String,
    /// The expression that gives it.
    pub(super) sql: String,
    /// Its type in DuckDB.
    pub(in crate::table) of: String,
}

impl SourceField {
    /// The expression of its value for a column of texts, or of another type.
    pub(in crate::table) fn sql(&self, for_text: bool) -> String {
        match for_text && !matches!(&*self.of, "VARCHAR" | "BLOB") {
            true => format!("CAST({} AS VARCHAR)", self.sql),
            false => self.sql.clone(),
        }
    }
}

/// A name as SQL has it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// What stands within `STRUCT(…)`.
pub(super) fn structure(of: &str) -> Option<&str> {
    of.strip_prefix("STRUCT(")?.strip_suffix(')')
}

/// The fields of a structure: names and types.
fn members(within: &str) -> Vec<(String, String)> {
    let (mut all, mut depth, mut quoted, mut start) = (Vec::new(), 0, false, 0);
    let mut parts = Vec::new();
    for (at, char) in within.char_indices() {
        match char {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&within[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&within[start..]);
    for part in parts {
        let part = part.trim();
        let name_and_type = match part.strip_prefix('"') {
            Some(rest) => {
                // A quote in the name is doubled.
                let mut end = 0;
                let bytes = rest.as_bytes();
                while end < bytes.len() && (bytes[end] != b'"' || bytes.get(end + 1) == Some(&b'"'))
                {
                    end += if bytes[end] == b'"' { 2 } else { 1 };
                }
                rest.get(..end).zip(rest.get(end + 1..))
            }
            None => part.split_once(' '),
        };
        if let Some((name, of)) = name_and_type {
            all.push((name.replace("\"\"", "\""), of.trim().to_owned()));
        }
    }
    all
}

/// Adds a column of Parquet or of a query, or what is within it.
pub(super) fn leaves(name: &str, sql: &str, of: &str, fields: &mut Vec<SourceField>) {
    if let Some(within) = structure(of) {
        for (member, of) in members(within) {
            let sql = format!("struct_extract({sql}, {})", Literal::Text(member.clone()));
            leaves(&format!("{name}.{member}"), &sql, &of, fields);
        }
        return;
    }
    let is_nested = of.ends_with(']') || of.starts_with("MAP(") || of.starts_with("UNION(");
    let (sql, of) = match of {
        "BOOLEAN"
        | "TINYINT"
        | "SMALLINT"
        | "INTEGER"
        | "BIGINT"
        | "UTINYINT"
        | "USMALLINT"
        | "UINTEGER"
        | "UBIGINT"
        | "FLOAT"
        | "DOUBLE"
        | "VARCHAR"
        | "BLOB"
        | "TIMESTAMP"
        | "TIMESTAMP_NS"
        | "TIMESTAMP WITH TIME ZONE" => (sql.to_owned(), of),
        "DATE" | "TIMESTAMP_S" | "TIMESTAMP_MS" => {
            (format!("CAST({sql} AS TIMESTAMP)"), "TIMESTAMP")
        }
        _ if is_nested => (format!("CAST(to_json({sql}) AS VARCHAR)"), "VARCHAR"),
        _ => (format!("CAST({sql} AS VARCHAR)"), "VARCHAR"),
    };
    fields.push(SourceField { name: name.to_owned(), sql, of: of.to_owned() });
}

/// A field of an object of JSON.
pub(super) fn of_object(column: &str, name: String) -> SourceField {
    let path = Literal::Text(format!("$.\"{}\"", name.replace('"', "\\\"")));
    let sql = format!("json_extract_string({column}, {path})");
    SourceField { name, sql, of: "VARCHAR".to_owned() }
}

/// Adds what is within a field of JSON.
pub(super) fn json_leaves(
    top: &str,
    name: &str,
    column: &str,
    path: &str,
    within: &str,
    fields: &mut Vec<SourceField>,
) {
    for (member, of) in members(within) {
        let name = format!("{name}.{member}");
        let path = format!("{path}.\"{}\"", member.replace('"', "\\\""));
        match structure(&of) {
            Some(within) => json_leaves(top, &name, column, &path, within, fields),
            None => {
                let sql = format!("json_extract_string({column}, {})", Literal::Text(path));
                fields.push(SourceField { name, sql, of: top.to_owned() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_structures_are_told_apart_whatever_their_names() {
        let of = |text: &str| members(structure(text).unwrap());
        let pair = |name: &str, of: &str| (name.to_owned(), of.to_owned());
        assert_eq!(
            of("STRUCT(lat DOUBLE, lon DOUBLE)"),
            [pair("lat", "DOUBLE"), pair("lon", "DOUBLE")]
        );
        assert_eq!(
            of(
                "STRUCT(\"a \"\"b\"\", c\" STRUCT(x DECIMAL(3,2), y INTEGER[]), d MAP(VARCHAR, BIGINT))"
            ),
            [
                pair("a \"b\", c", "STRUCT(x DECIMAL(3,2), y INTEGER[])"),
                pair("d", "MAP(VARCHAR, BIGINT)")
            ]
        );
    }
}
