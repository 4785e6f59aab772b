//! Phases for the statements that a program has sent to its database.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::quoted;
use super::shape::Shape;
use crate::sql::{Token, tokens};

/// Number of operations of a phase with changes.
const OPS: &str = "1_000";

/// Words that are not names without quotes.
const KEYWORDS: &str = "\
    all and as asc between by case cast check collate cross default desc distinct else end except \
    exists from full group having in index inner intersect is join left like limit natural not null \
    offset on or order outer right select table then union using values when where";

/// Writes a phase for each kind of statement, most frequent first, with those that change rows
/// after those that read them. Returns the statements that gave no phase.
pub fn write(
    text: &mut String,
    shapes: &[Shape<'_>],
    statements: &[String],
    several: bool,
) -> Vec<String> {
    let mut kinds: BTreeMap<Vec<Token>, (usize, usize)> = BTreeMap::new();
    for (place, statement) in statements.iter().enumerate() {
        let kind = tokens(statement).into_iter().map(|token| token.kind()).collect();
        kinds.entry(kind).or_insert((0, place)).0 += 1;
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    kinds.sort_by_key(|(count, place)| (std::cmp::Reverse(*count), *place));
    let (mut left_out, mut reads, mut changes) = (Vec::new(), 0, Vec::new());
    for (count, place) in kinds {
        let statement = statements[place].trim();
        let tokens = tokens(statement);
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        match tokens.first().map(|token| token.text.to_lowercase()).as_deref() {
            Some("select" | "with" | "values") => {
                reads += 1;
                let sql = renamed(&tokens, shapes);
                let _ = write!(
                    text,
                    "\n# In the log {times}.\n[phase.q{reads}]\nsql = {}\n",
                    quoted(&sql)
                );
            }
            // It loads the tables.
            Some("insert") => {}
            Some("update" | "delete") => match change(&tokens, shapes, several) {
                Some(change) => changes.push((times, change)),
                None => left_out.push(statement.to_owned()),
            },
            _ => left_out.push(statement.to_owned()),
        }
    }
    for (number, (times, change)) in (1..).zip(changes) {
        let _ = write!(text, "\n# In the log {times}.\n[phase.c{number}]\n{change}\n");
    }
    left_out
}

/// Splits a log into statements, which are separated by semicolons or on separate lines.
pub fn statements(log: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for token in tokens(log) {
        match (&*token.text, all.last_mut()) {
            (";", _) => all.push(String::new()),
            (text, Some(last)) => {
                if token.spaced && !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(text);
            }
            _ => {}
        }
    }
    all.retain(|statement| !statement.is_empty());
    all
}

/// Returns a statement with the names of tables and columns in the file.
fn renamed(tokens: &[Token], shapes: &[Shape<'_>]) -> String {
    let pairs = || {
        shapes.iter().flat_map(|shape| {
            let columns = shape.table.columns.iter().zip(&shape.columns);
            let columns = columns.map(|(column, name)| (&*column.name, &**name));
            let table = shape.table.schema.as_ref().map(|(table, _)| (&**table, &*shape.name));
            columns.chain(table)
        })
    };
    let mut sql = String::new();
    for token in tokens {
        if token.spaced && !sql.is_empty() {
            sql.push(' ');
        }
        let other = token.name().and_then(|name| {
            let mut pairs = pairs().filter(|(from, to)| from != to);
            pairs.find(|(from, _)| from.eq_ignore_ascii_case(name)).map(|(_, to)| to)
        });
        // A keyword is a name only in quotes.
        let is_word = token.name() == Some(&*token.text);
        let is_keyword = KEYWORDS.split(' ').any(|word| token.text.eq_ignore_ascii_case(word));
        sql.push_str(other.filter(|_| !(is_word && is_keyword)).unwrap_or(&token.text));
    }
    sql
}

/// Returns the phase of an UPDATE or DELETE of rows.
fn change(tokens: &[Token], shapes: &[Shape<'_>], several: bool) -> Option<String> {
    let word = |at: usize| tokens.get(at).map(|token| token.text.to_lowercase());
    let is_update = word(0)? == "update";
    let table = if is_update { 1 } else { 2 };
    let name = tokens.get(table)?.name()?;
    let shape = shapes.iter().find(|shape| {
        shape.table.schema.as_ref().is_some_and(|(table, _)| table.eq_ignore_ascii_case(name))
    })?;
    let of_table = match several {
        true => format!("\ntable = {}", quoted(&shape.name)),
        false => String::new(),
    };
    if !is_update {
        return Some(format!("do = \"delete\"{of_table}\nops = {OPS}"));
    }
    let end = (0..tokens.len()).find(|at| word(*at).as_deref() == Some("where"))?;
    let mut set = Vec::new();
    let assigned = tokens.windows(3).take(end.saturating_sub(2)).skip(table);
    for three in assigned {
        // A name before '=' that begins the list or follows a comma.
        let begins = three[0].text == "," || three[0].text.eq_ignore_ascii_case("set");
        if begins && three[2].text == "=" {
            let name = three[1].name()?;
            let columns = shape.table.columns.iter();
            let place = columns.zip(0..).find(|(column, _)| column.name.eq_ignore_ascii_case(name));
            set.push(shape.column(place?.1));
        }
    }
    // Columns of the key keep their values, and so does the time.
    let is_free = |name: &&str| shape.free.iter().any(|place| shape.column(*place) == *name);
    let (free, kept): (Vec<&str>, Vec<&str>) = set.into_iter().partition(is_free);
    let note = match &kept[..] {
        [] => String::new(),
        kept => format!("# Without {}: a row keeps its key and its time.\n", kept.join(", ")),
    };
    let set = (!free.is_empty()).then(|| super::list(free))?;
    Some(format!("{note}do = \"update\"{of_table}\nset = {set}\nops = {OPS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_into_statements_outside_of_texts_and_comments() {
        let log = "SELECT 'a;b' -- c;\nFROM \"x;y\" /* ; */;\n UPDATE t SET a=1.5 ; ;";
        assert_eq!(statements(log), ["SELECT 'a;b' FROM \"x;y\"", "UPDATE t SET a=1.5"]);
        assert_eq!(statements("SELECT 'it''s'; "), ["SELECT 'it''s'"]);
        assert_eq!(statements("SELECT 'open"), ["SELECT 'open"]);
        assert!(statements("-- nothing").is_empty());
    }

    #[test]
    fn statements_that_differ_in_constants_are_of_one_kind() {
        let kind = |sql: &str| tokens(sql).into_iter().map(Token::kind).collect::<Vec<_>>();
        assert_eq!(
            kind("SELECT a FROM t WHERE b = 'x' AND c>1.5"),
            kind("select a from T where b='y' and c > 22")
        );
        assert_ne!(kind("SELECT a FROM t"), kind("SELECT b FROM t"));
    }
}
