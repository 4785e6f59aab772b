//! Queries in SQL.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::definition::{Sql, Work};
use crate::node::{Fields, Node};

/// Prefix of an engine's id in a key.
const OWN: &str = "sql-";

/// Reads a phase with `sql`, or `sql-ENGINE` for one of these engines.
pub fn read(fields: &Fields<'_>, engines: &[&str]) -> Option<Work> {
    let mut by_engine = BTreeMap::new();
    let mut known = vec!["sql", "answer", "about", "only"];
    for entry in fields.entries() {
        let Some(engine) = entry.name.strip_prefix(OWN) else { continue };
        known.push(entry.name);
        if !engines.contains(&engine) {
            let _: Option<()> =
                fields.log.unknown(entry.at, "engine", engine, engines.iter().copied());
        } else if let Some(text) = question(&entry.node) {
            by_engine.insert(engine.to_owned(), text);
        }
    }
    fields.only(&known);
    let text = fields.maybe("sql", |node| question(&node));
    let answer = fields.maybe("answer", |node| node.text().map(PathBuf::from));
    let text = text?;
    let ordered =
        text.as_deref().or(by_engine.values().next().map(String::as_str)).is_some_and(ordered);
    Some(Work::Sql(Sql { text, by_engine, answer: answer?, ordered }))
}

/// Reads an SQL text that is not empty.
fn question(node: &Node<'_>) -> Option<String> {
    match node.text()?.trim() {
        "" => node.mistake("an empty question", "", "write a SELECT"),
        text => Some(text.trim_end_matches(';').to_owned()),
    }
}

/// Whether the outermost query has an ORDER BY: outside of parentheses, quotes and comments.
fn ordered(text: &str) -> bool {
    let mut depth = 0;
    let mut before = "";
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '(' | ')' => {
                depth += if first == '(' { 1 } else { -1 };
                1
            }
            '\'' | '"' | '`' => quoted(rest, first),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ if is_word(first) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let word = &rest[..length];
                if depth == 0
                    && before.eq_ignore_ascii_case("order")
                    && word.eq_ignore_ascii_case("by")
                {
                    return true;
                }
                before = word;
                length
            }
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
    }
    false
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the number of bytes of the quoted part at the beginning of a text, including the quotes.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn only_the_outermost_order_counts() {
        assert!(ordered("SELECT a FROM t ORDER BY a"));
        assert!(ordered("SELECT a FROM t order\n  by a LIMIT 3"));
        assert!(ordered("WITH x AS (SELECT 1) SELECT * FROM x /* so */ ORDER BY 1"));
        assert!(!ordered("SELECT a FROM (SELECT a FROM t ORDER BY a) AS s"));
        assert!(!ordered("SELECT rank() OVER (ORDER BY a) FROM t"));
        assert!(!ordered("SELECT 'ORDER BY' FROM t -- ORDER BY a"));
        assert!(!ordered("SELECT \"order\" /* ORDER BY a */, 'é(' FROM t"));
        assert!(!ordered("SELECT 'it''s (', reorder, bypass FROM t"));
    }
}
