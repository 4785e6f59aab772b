//! Firebird's SQL dialect.

use crate::sql::{Dialect, SqlType, TableDef};

/// Character set of texts, which stores bytes unchanged. Among those whose collations only compare
/// bytes, only single-byte sets support NO PAD, without which `a` and `a ` are equal
/// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-ddl-collation>).
pub(super) const CHARACTER_SET: &str = "ISO8859_1";

/// Collation of bytes, by which a result distinguishes them from texts.
pub(super) const BYTES: &str = "EMBERMARK_BYTES";

/// Statements for a new database: the collation of texts, which columns without one have, and the
/// collation of bytes.
pub(super) const COLLATIONS: [&str; 3] = [
    "CREATE COLLATION EMBERMARK_TEXTS FOR ISO8859_1 FROM ISO8859_1 NO PAD",
    "CREATE COLLATION EMBERMARK_BYTES FOR ISO8859_1 FROM ISO8859_1 NO PAD",
    "ALTER CHARACTER SET ISO8859_1 SET DEFAULT COLLATION EMBERMARK_TEXTS",
];

/// Most bytes of a text of unknown length.
const LONGEST: usize = 1000;

/// Most bytes of a text that is a VARCHAR.
const LONGEST_SIZED: usize = 8191;

/// Bytes of a text in an index: `VARCHAR(255)`.
pub(super) const INDEXED: usize = 255;

pub(super) struct FirebirdSql;

impl Dialect for FirebirdSql {
    fn type_name(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Int => "INTEGER",
            SqlType::Big => "BIGINT",
            SqlType::Double => "DOUBLE PRECISION",
            SqlType::Text => "VARCHAR(1000)",
            SqlType::Bytes => "VARCHAR(1000) COLLATE EMBERMARK_BYTES",
        }
    }

    fn upsert(&self, table: &str, columns: &[&str], key: &[&str]) -> String {
        let insert = self.insert_rows(table, columns, 1);
        let key: Vec<String> = key.iter().map(|name| quoted(name)).collect();
        format!("UPDATE OR {insert} MATCHING ({})", key.join(", "))
    }

    fn placeholder(&self, _: usize) -> String {
        "?".to_owned()
    }

    /// Longer texts than a VARCHAR's are refused: `VARCHAR(1000)` where their length is unknown. In
    /// memory a record is as long as its columns can be.
    fn longest(&self) -> Option<usize> {
        Some(LONGEST)
    }

    /// Longer ones are blobs. ORDER BY, GROUP BY, MIN, and MAX use a blob's id instead of its
    /// content
    /// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-datatypes-bnrytypes>).
    fn sized(&self, of: SqlType, longest: usize) -> Option<String> {
        let (blob, collation) = match of {
            SqlType::Text => ("BLOB SUB_TYPE TEXT", ""),
            SqlType::Bytes => ("BLOB SUB_TYPE BINARY", " COLLATE EMBERMARK_BYTES"),
            _ => return None,
        };
        Some(match longest {
            0..=LONGEST_SIZED => format!("VARCHAR({}){collation}", longest.max(1)),
            _ => blob.to_owned(),
        })
    }

    fn long_text(&self) -> &'static str {
        "BLOB SUB_TYPE TEXT"
    }

    /// All columns of an index together have at most a quarter of a page
    /// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-ddl-index-limits>).
    fn indexed_type(&self, of: SqlType) -> &'static str {
        match of {
            SqlType::Text => "VARCHAR(255)",
            SqlType::Bytes => "VARCHAR(255) COLLATE EMBERMARK_BYTES",
            of => self.type_name(of),
        }
    }

    /// Quoted and in capitals, as unquoted names are stored, so that words of SQL can be names.
    fn column(&self, name: &str) -> String {
        quoted(name)
    }

    fn table(&self, name: &str) -> String {
        quoted(name)
    }

    /// A collation comes last.
    fn not_null(&self, of: &str) -> String {
        match of.split_once(" COLLATE ") {
            Some((of, collation)) => format!("{of} NOT NULL COLLATE {collation}"),
            None => format!("{of} NOT NULL"),
        }
    }

    /// Its indexes are read in one direction: with an ascending index the row with the greatest key
    /// is found by sorting all
    /// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-ddl-tbl-constraints-using>).
    fn create_table_read_backwards(&self, table: &TableDef, types: &[(&str, &str)]) -> String {
        let create = self.create_table_of(table, types);
        match create.strip_suffix("))") {
            Some(to_key) => {
                let index = quoted(&format!("{}_backwards", table.name));
                format!("{to_key}) USING DESCENDING INDEX {index})")
            }
            None => create,
        }
    }

    /// There is no DROP TABLE IF EXISTS before version 6.
    fn drop_table(&self, name: &str) -> String {
        let (table, kept) = (quoted(name), name.to_uppercase());
        format!(
            "EXECUTE BLOCK AS BEGIN IF (EXISTS(SELECT 1 FROM RDB$RELATIONS \
             WHERE RDB$RELATION_NAME = '{kept}')) THEN EXECUTE STATEMENT 'DROP TABLE {table}'; END"
        )
    }

    /// VALUES accepts one row. A block accepts several statements with their parameters, which have
    /// the types of their columns
    /// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-dml-execblock>).
    fn insert_rows(&self, table: &str, columns: &[&str], rows: usize) -> String {
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let (table, into, width) = (quoted(table), names.join(", "), names.len());
        if rows == 1 {
            let places = vec!["?"; width].join(", ");
            return format!("INSERT INTO {table} ({into}) VALUES ({places})");
        }
        let place = |n: usize| format!("p{n} TYPE OF COLUMN {table}.{} = ?", names[n % width]);
        let places: Vec<String> = (0..rows * width).map(place).collect();
        let insert = |row: usize| {
            let values: Vec<String> =
                (0..width).map(|n| format!(":p{}", row * width + n)).collect();
            format!("INSERT INTO {table} ({into}) VALUES ({});", values.join(", "))
        };
        let inserts: Vec<String> = (0..rows).map(insert).collect();
        format!("EXECUTE BLOCK ({}) AS BEGIN {} END", places.join(", "), inserts.join(" "))
    }

    /// Milliseconds are added to a time without a zone.
    fn month(&self, milliseconds: &str) -> Option<String> {
        let timestamp =
            format!("DATEADD({milliseconds} MILLISECOND TO TIMESTAMP '1970-01-01 00:00:00')");
        Some(format!("(EXTRACT(YEAR FROM {timestamp}) * 100 + EXTRACT(MONTH FROM {timestamp}))"))
    }

    fn index_names(&self, table: &str) -> Option<String> {
        let table = table.to_uppercase();
        Some(format!(
            "SELECT LOWER(TRIM(RDB$INDEX_NAME)) FROM RDB$INDICES WHERE RDB$RELATION_NAME = '{table}'"
        ))
    }

    fn remainder(&self, dividend: &str, divisor: &str) -> String {
        format!("MOD({dividend}, {divisor})")
    }

    /// AVG of integers is an integer
    /// (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-aggfuncs-avg>).
    fn mean(&self, column: &str) -> String {
        format!("AVG(CAST({column} AS DOUBLE PRECISION))")
    }

    fn limit(&self, rows: &str) -> String {
        format!("FETCH FIRST {rows} ROWS ONLY")
    }

    fn value(&self, expression: &str) -> String {
        format!("SELECT {expression} FROM RDB$DATABASE")
    }

    /// Firebird does not compare row values.
    fn row_values(&self) -> bool {
        false
    }

    /// Firebird joins derived tables by a nested loop and does not materialise them. `compare_two` over
    /// 20,000 readings took 9 s with derived tables, and takes 15 ms without them.
    fn joins_derived_tables(&self) -> bool {
        false
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.to_uppercase())
}
