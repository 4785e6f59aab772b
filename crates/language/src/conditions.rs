//! Reads `where` and the parts of a condition.

use embermark_model::table::{ColumnType, TimeUnit};

use crate::constant;
use crate::definition::{Bound, Condition, Operator};
use crate::node::Node;
use crate::reading::Reading;
use crate::time;

/// Operators as conditions have them.
pub const OPERATORS: [(&str, Operator); 6] = [
    ("=", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    ("<=", Operator::AtMost),
    (">", Operator::Greater),
    (">=", Operator::AtLeast),
];

impl Reading<'_> {
    /// Reads the conditions of a phase, which may have none.
    pub fn conditions(&self) -> Option<Vec<Condition>> {
        self.fields.or("where", Vec::new(), |node| all_conditions(self, &node))
    }

    /// Reads the conditions of a phase, at least one.
    pub fn some_conditions(&self) -> Option<Vec<Condition>> {
        self.fields.need("where", "where = [[\"temp\", \">\", 20]]", |node| {
            let conditions = all_conditions(self, &node)?;
            if conditions.is_empty() {
                return node.mistake("no condition", "write for example [[\"temp\", \">\", 20]]");
            }
            Some(conditions)
        })
    }
}

/// Reads a list of conditions.
fn all_conditions(phase: &Reading<'_>, node: &Node<'_>) -> Option<Vec<Condition>> {
    if node.list()?.first().is_some_and(|first| first.as_text().is_some()) {
        let help = "write a list of conditions, for example [[\"temp\", \">\", 20]]";
        return node.mistake("a condition that is not in a list", help);
    }
    node.each(|item| condition(phase, &item))
}

/// Reads the parts of a condition: what is compared, how, and with what.
pub fn parts<'a>(node: &Node<'a>) -> Option<[Node<'a>; 3]> {
    let parts = node.list()?;
    let number = parts.len();
    parts.try_into().ok().or_else(|| {
        node.labelled(
            "a condition has three parts",
            format!("this has {number}"),
            "write [column, operator, constant], for example [\"temp\", \">\", 20]",
        )
    })
}

/// Reads a condition on a column.
fn condition(phase: &Reading<'_>, node: &Node<'_>) -> Option<Condition> {
    let [column, operator, constant] = parts(node)?;
    let operator = operator.one_of("operator", &OPERATORS);
    let column = phase.draft.place(&column)?;
    let of = phase.draft.column(column)?.of;
    let bound = bound(&constant, of);
    Some(Condition { column, operator: operator?, bound: bound? })
}

/// Reads a constant of a type. For a time also `start + 1h` and `end - 7d`.
fn bound(node: &Node<'_>, of: ColumnType) -> Option<Bound> {
    let relative = |name: &str| {
        let rest = node.as_text()?.trim().strip_prefix(name)?.trim_start();
        (rest.is_empty() || rest.starts_with(['+', '-'])).then_some(rest)
    };
    if let ColumnType::Timestamp(unit) = of {
        if let Some(rest) = relative("start") {
            return offset(node, rest, unit).map(Bound::Start);
        }
        if let Some(rest) = relative("end") {
            return offset(node, rest, unit).map(Bound::End);
        }
    }
    if of == ColumnType::Bytes {
        return node
            .mistake("bytes are compared with nothing", "filter by another column, or write sql");
    }
    constant::read(node, of).map(Bound::Constant)
}

/// Reads the units after `start` or `end`: nothing, `+ 1h` or `- 7d`.
fn offset(node: &Node<'_>, rest: &str, unit: TimeUnit) -> Option<i64> {
    if rest.is_empty() {
        return Some(0);
    }
    let (sign, length) = rest.split_at(1);
    match time::duration(length.trim()).and_then(|length| time::units(length, unit)) {
        Some(units) => Some(if sign == "-" { -units } else { units }),
        None => node.mistake(
            format!("'{}' is not a length of time in {}", length.trim(), unit.name()),
            time::DURATION_HELP,
        ),
    }
}
