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
            let _: Option<()> = entry.at_name().unknown("engine", engine, engines.iter().copied());
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
        "" => node.mistake("an empty question", "write a SELECT"),
        text => Some(text.trim_end_matches(';').to_owned()),
    }
}

/// Whether the outermost query has an ORDER BY: outside of parentheses, quotes and comments.
fn ordered(text: &str) -> bool {
    let (tokens, mut depth) = (tokens(text), 0);
    tokens.windows(2).any(|pair| {
        let (first, second) = (&*pair[0].text, &*pair[1].text);
        depth += i32::from(first == "(") - i32::from(first == ")");
        depth == 0 && first.eq_ignore_ascii_case("order") && second.eq_ignore_ascii_case("by")
    })
}

/// A word, a sign, a number or a text of SQL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token {
    /// As it is written.
    pub text: String,
    /// Whether a blank precedes it.
    pub spaced: bool,
}

impl Token {
    /// Returns a token that is equal for statements that differ only in constants.
    pub fn kind(self) -> Self {
        let is_constant = self.is_parameter()
            || self.text.starts_with(|char: char| char == '\'' || char.is_ascii_digit());
        let text = if is_constant { "?".to_owned() } else { self.text.to_lowercase() };
        Self { text, spaced: false }
    }

    /// Returns whether a value takes its place when the statement runs.
    pub fn is_parameter(&self) -> bool {
        self.text.starts_with(['?', ':', '$', '@'])
    }

    /// Returns whether it is this word of SQL.
    pub fn is_word(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    /// Returns the name that it is, quoted or not.
    pub fn name(&self) -> Option<&str> {
        let text = &*self.text;
        let within = |open: char, close| text.strip_prefix(open)?.strip_suffix(close);
        let quoted = within('"', '"').or_else(|| within('`', '`')).or_else(|| within('[', ']'));
        quoted.or_else(|| {
            text.starts_with(|char: char| char.is_alphabetic() || char == '_').then_some(text)
        })
    }
}

/// Splits SQL into tokens, without comments.
pub fn tokens(sql: &str) -> Vec<Token> {
    let (mut all, mut rest, mut spaced) = (Vec::new(), sql, false);
    while let Some(first) = rest.chars().next() {
        let ends = |mark: char, from: usize| {
            rest[from..].find(mark).map_or(rest.len(), |at| from + at + mark.len_utf8())
        };
        let length = match first {
            _ if first.is_whitespace() => {
                (spaced, rest) = (true, rest.trim_start());
                continue;
            }
            '-' if rest.starts_with("--") => {
                (spaced, rest) = (true, &rest[ends('\n', 2)..]);
                continue;
            }
            '/' if rest.starts_with("/*") => {
                let end = rest[2..].find("*/").map_or(rest.len(), |at| at + 4);
                (spaced, rest) = (true, &rest[end..]);
                continue;
            }
            '\'' | '"' | '`' => {
                let mut end = ends(first, 1);
                // A quote within is doubled.
                while rest[end..].starts_with(first) {
                    end = ends(first, end + 1);
                }
                end
            }
            '[' => ends(']', 1),
            _ if first.is_alphanumeric() || "_?:$@".contains(first) => {
                let is_part = |char: char| char.is_alphanumeric() || "_.".contains(char);
                let is_word = first.is_alphabetic() || first == '_';
                let part = |char: char| is_part(char) && !(is_word && char == '.');
                let after = first.len_utf8();
                rest[after..].find(|char| !part(char)).map_or(rest.len(), |at| after + at)
            }
            _ => first.len_utf8(),
        };
        all.push(Token { text: rest[..length].to_owned(), spaced });
        (spaced, rest) = (false, &rest[length..]);
    }
    all
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
        assert!(!ordered("SELECT a FROM t /*/ ORDER BY a */"), "its begin is not its end");
    }
}
