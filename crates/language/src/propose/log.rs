//! Phases for the statements that a program has sent to its database.

use std::collections::BTreeMap;
use std::fmt::Write;

use embermark_data::table::time_text;
use embermark_model::table::ColumnType;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::shape::Shape;
use super::{list, quoted};
use crate::parse;
use crate::sql::{Token, tokens};

/// Number of operations of a phase with changes.
const OPS: &str = "1_000";

/// Words that are not names without quotes.
const KEYWORDS: &str = "\
    all and as asc between by case cast check collate cross default desc distinct else end except \
    exists from full group having in index inner intersect is join left like limit natural not null \
    offset on or order outer right select table then union using values when where";

/// Writes a phase for each kind of statement, most frequent first, with those that change rows
/// after those that read them. Returns the statements that gave no phase: a run would refuse them,
/// or they say more than a phase can.
pub fn write(
    text: &mut String,
    shapes: &[Shape<'_>],
    statements: &[String],
    several: bool,
) -> Vec<String> {
    // How often, where the one is that stands for the kind, and whether that has parameters.
    let mut kinds: BTreeMap<Vec<Token>, (usize, usize, bool)> = BTreeMap::new();
    for (place, statement) in statements.iter().enumerate() {
        let tokens = tokens(statement);
        let is_open = tokens.iter().any(Token::is_parameter);
        let kind = tokens.into_iter().map(Token::kind).collect();
        let of = kinds.entry(kind).or_insert((0, place, is_open));
        of.0 += 1;
        if of.2 && !is_open {
            (of.1, of.2) = (place, false);
        }
    }
    let mut kinds: Vec<_> = kinds.into_values().collect();
    kinds.sort_by_key(|(count, place, _)| (std::cmp::Reverse(*count), *place));
    let (tables, database) = (text.clone(), empty_database(shapes).ok());
    let is_taken =
        |change: &String| parse("log", &format!("{tables}\n[phase.c]\n{change}\n"), &[]).is_ok();
    let (mut left_out, mut reads, mut changes) = (Vec::new(), 0, Vec::new());
    for (count, place, _) in kinds {
        let statement = statements[place].trim();
        let tokens = tokens(statement);
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        match tokens.first().map(|token| token.text.to_lowercase()).as_deref() {
            Some("select" | "with" | "values") => {
                let sql = renamed(&tokens, shapes);
                if !database.as_ref().is_some_and(|database| is_read(database, &sql)) {
                    left_out.push(statement.to_owned());
                    continue;
                }
                reads += 1;
                let _ = write!(
                    text,
                    "\n# In the log {times}.\n[phase.q{reads}]\nsql = {}\n",
                    quoted(&sql)
                );
            }
            // It loads the tables.
            Some("insert") => {}
            Some("update" | "delete") => match change(&tokens, shapes, several).filter(is_taken) {
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

/// Opens a database with the tables of the file, without rows.
fn empty_database(shapes: &[Shape<'_>]) -> rusqlite::Result<Connection> {
    let database = Connection::open_in_memory()?;
    // In quotation marks a name is no text, as for other engines.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    for shape in shapes {
        let number = shape.key.is_none().then_some(&shape.number);
        let columns: Vec<_> =
            shape.columns.iter().chain(number).map(|name| format!("\"{name}\"")).collect();
        // Other engines have no `rowid`.
        database.execute_batch(&format!(
            "CREATE TABLE \"{}\" ({}, PRIMARY KEY ({})) WITHOUT ROWID",
            shape.name,
            columns.join(", "),
            columns[0]
        ))?;
    }
    Ok(database)
}

/// Returns whether a statement only reads these tables, and has no parameters.
fn is_read(database: &Connection, sql: &str) -> bool {
    database.prepare(sql).is_ok_and(|statement| {
        statement.readonly() && statement.parameter_count() == 0 && statement.column_count() > 0
    })
}

/// Splits a log into statements, which semicolons separate.
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

/// Returns whether it is a word that is a name only in quotes.
fn is_keyword(token: &Token) -> bool {
    token.name() == Some(&*token.text)
        && KEYWORDS.split(' ').any(|word| token.text.eq_ignore_ascii_case(word))
}

/// Returns whether a statement names a table here: after FROM or JOIN, or in a list there.
fn is_table(tokens: &[Token], at: usize) -> bool {
    const CLAUSES: [&str; 9] =
        ["from", "join", "select", "where", "on", "by", "having", "limit", "using"];
    let before = || tokens[..at].iter().rev().map(|token| token.text.to_lowercase());
    let of_table = |word: &String| matches!(&**word, "from" | "join");
    tokens[at].name().is_some()
        && before().next().is_some_and(|last| of_table(&last) || last == "," || last == "(")
        && before().find(|word| CLAUSES.contains(&&**word)).is_some_and(|word| of_table(&word))
}

/// Returns the tables that a statement names, in its order, by their names and aliases.
fn named<'a>(
    tokens: &'a [Token],
    shapes: &'a [Shape<'a>],
) -> impl Iterator<Item = (&'a str, &'a Shape<'a>)> {
    let names = tokens.iter().enumerate().filter(move |(at, _)| is_table(tokens, *at));
    names.flat_map(move |(at, token)| {
        let shape = token.name().and_then(|name| shapes.iter().find(|shape| shape.is_of(name)));
        let has_as = tokens.get(at + 1).is_some_and(|next| next.is_word("as"));
        let alias = tokens.get(at + 1 + usize::from(has_as)).filter(|next| !is_keyword(next));
        [Some(token), alias].into_iter().flatten().filter_map(move |of| Some((of.name()?, shape?)))
    })
}

/// Returns a statement with the names of tables and columns in the file. A column is one of the
/// table before its dot, or else of the first table that the statement names and that has it.
fn renamed(tokens: &[Token], shapes: &[Shape<'_>]) -> String {
    let named: Vec<_> = named(tokens, shapes).collect();
    let sign = |at: usize| tokens.get(at).map_or("", |token| &*token.text);
    let mut sql = String::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.spaced && !sql.is_empty() {
            sql.push(' ');
        }
        let name = token.name().filter(|_| !is_keyword(token) && sign(at + 1) != "(");
        let other = name.and_then(|name| {
            if is_table(tokens, at) || sign(at + 1) == "." {
                let shape = named.iter().map(|(_, shape)| shape).find(|shape| shape.is_of(name));
                return shape.map(|shape| &*shape.name);
            }
            let of = (at > 1 && sign(at - 1) == ".").then(|| tokens[at - 2].name()).flatten();
            let is_of = |of_table: &str| of.is_none_or(|of| of.eq_ignore_ascii_case(of_table));
            let mut places = named.iter().filter(|(name, _)| is_of(name));
            places.find_map(|(_, shape)| Some(shape.column(shape.place(name)?)))
        });
        sql.push_str(other.filter(|other| name != Some(*other)).unwrap_or(&token.text));
    }
    sql
}

/// A comparison of a column, by its index, with a constant as the file has it. `None`: with a
/// parameter.
type Comparison = (usize, &'static str, Option<String>);

/// Returns the phase of an UPDATE or DELETE: of rows by their keys if it compares the whole key, or
/// else of the rows that meet its comparisons.
fn change(tokens: &[Token], shapes: &[Shape<'_>], several: bool) -> Option<String> {
    let is_word = |at: usize, word| tokens.get(at).is_some_and(|token| token.is_word(word));
    let is_update = is_word(0, "update");
    let table = if is_update { 1 } else { 2 };
    let name = tokens.get(table)?.name()?;
    let shape = shapes.iter().find(|shape| shape.is_of(name))?;
    let of_table = match several {
        true => format!("\ntable = {}", quoted(&shape.name)),
        false => String::new(),
    };
    // Without one it changes every row, which no phase does.
    let end = (0..tokens.len()).find(|at| is_word(*at, "where"))?;
    let compared = comparisons(&tokens[end + 1..], shape)?;
    let is_equal = |key: &usize| compared.iter().any(|(of, sign, _)| of == key && *sign == "=");
    let is_by_key = shape.key.as_ref().is_some_and(|key| key.iter().all(is_equal));
    let of_rows = if is_by_key {
        format!("ops = {OPS}")
    } else {
        let each = compared.into_iter().map(|(of, sign, value)| {
            Some(format!("[{}, \"{sign}\", {}]", quoted(shape.column(of)), value?))
        });
        format!("where = [{}]", each.collect::<Option<Vec<_>>>()?.join(", "))
    };
    if !is_update {
        let begins = is_word(1, "from") && end == table + 1;
        return begins.then(|| format!("do = \"delete\"{of_table}\n{of_rows}"));
    }
    let assigned = tokens.get(table + 2..end).filter(|_| is_word(table + 1, "set"))?;
    let mut depth = 0;
    let each = assigned.split(|token| {
        depth += i32::from(token.text == "(") - i32::from(token.text == ")");
        depth == 0 && token.text == ","
    });
    let set = each.map(|assigned| {
        let [name, equals, value @ ..] = assigned else { return None };
        let place = shape.place(name.name()?).filter(|_| equals.text == "=")?;
        let constant = constant(value, shape.table.columns[place].of);
        Some((place, constant.filter(|(_, rest)| rest.is_empty()).and_then(|(value, _)| value)))
    });
    // Columns of the key keep their values, and so does the time.
    let (free, kept): (Vec<_>, Vec<_>) =
        set.collect::<Option<Vec<_>>>()?.into_iter().partition(|(of, _)| shape.free.contains(of));
    let kept: Vec<_> = kept.iter().map(|(of, _)| shape.column(*of)).collect();
    let note = match &kept[..] {
        [] => String::new(),
        kept => format!("# Without {}: a row keeps its key and its time.\n", kept.join(", ")),
    };
    let set = match is_by_key {
        _ if free.is_empty() => return None,
        true => list(free.iter().map(|(of, _)| shape.column(*of))),
        false => {
            let each = free
                .into_iter()
                .map(|(of, value)| Some(format!("{} = {}", shape.column(of), value?)));
            format!("{{ {} }}", each.collect::<Option<Vec<_>>>()?.join(", "))
        }
    };
    Some(format!("{note}do = \"update\"{of_table}\nset = {set}\n{of_rows}"))
}

/// Reads comparisons that all have to hold. `None` if there is anything else.
fn comparisons(mut rest: &[Token], shape: &Shape<'_>) -> Option<Vec<Comparison>> {
    let mut all = Vec::new();
    loop {
        if rest.get(1).is_some_and(|dot| dot.text == ".") {
            rest = &rest[2..];
        }
        let (column, after) = rest.split_first()?;
        let column = shape.place(column.name()?)?;
        let signs = after.iter().take_while(|token| "<>=!".contains(&*token.text)).count();
        let sign: String = after[..signs].iter().map(|token| &*token.text).collect();
        let sign = match &*sign {
            "=" | "==" => "=",
            "!=" | "<>" => "!=",
            "<" => "<",
            "<=" => "<=",
            ">" => ">",
            ">=" => ">=",
            _ => return None,
        };
        let (value, after) = constant(&after[signs..], shape.table.columns[column].of)?;
        all.push((column, sign, value));
        rest = match after.split_first() {
            None => return Some(all),
            Some((and, others)) if and.is_word("and") => others,
            Some(_) => return None,
        };
    }
}

/// Reads a constant, and returns it as the file has it for a column of this type, and what follows.
/// The value of a parameter is not known. The file's own check finds what does not fit the type.
fn constant(tokens: &[Token], of: ColumnType) -> Option<(Option<String>, &[Token])> {
    let (token, rest) = tokens.split_first()?;
    if token.is_parameter() {
        return Some((None, rest));
    }
    if let Some(text) = token.text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return Some((Some(quoted(&text.replace("''", "'"))), rest));
    }
    let (sign, token, rest) = match rest.split_first() {
        Some((number, rest)) if token.text == "-" => ("-", number, rest),
        _ => ("", token, rest),
    };
    let number = format!("{sign}{}", token.text.to_lowercase());
    let value = match of {
        ColumnType::Timestamp(unit) => quoted(&time_text(number.parse().ok()?, unit)),
        ColumnType::Bool => match &*number {
            "0" | "false" => "false".to_owned(),
            "1" | "true" => "true".to_owned(),
            _ => return None,
        },
        ColumnType::Int { .. } => number.parse::<i64>().ok()?.to_string(),
        _ => format!("{:?}", number.parse::<f64>().ok()?),
    };
    Some((Some(value), rest))
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
