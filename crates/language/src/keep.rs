//! Rows that arrive and are removed.

use embermark_model::table::ColumnType;

use crate::constant;
use crate::definition::{Commit, Keep, UNTIL_STEADY, Work};
use crate::draft::Draft;
use crate::mix::{Member, member};
use crate::node::{Fields, Node, all};
use crate::phase;

/// Default number of rows between two queries.
const EVERY: u64 = 100;

/// Default number of parts of a window, which are removed one at a time.
const STEPS: i64 = 24;

/// Largest number of steps of a window, each of which may be a partition.
const MOST_STEPS: i64 = 1_000;

/// Reads a phase with `keep`. `phases` are all phases of the file.
pub fn read(fields: &Fields<'_>, phases: &[Member<'_>], drafts: &[Draft<'_>]) -> Option<Keep> {
    fields.only(&["keep", "table", "step", "insert", "ask", "every", "at-most", "about"]);
    let node = fields.get("keep")?;
    let table = phase::table_of(fields, drafts)?;
    let (time, of) = time(&node, &drafts[table])?;
    let window = constant::length(&node, of);
    let step = fields.maybe("step", |node| constant::length(&node, of));
    let insert = fields.need("insert", "insert = \"rows\": the name of an insert", |node| {
        insert(&node, table, phases)
    });
    let ask = fields.or("ask", Vec::new(), |node| {
        all(node.list()?.iter().map(|node| question(node, table, phases)))
    });
    let every = fields.or("every", EVERY, |node| node.count());
    let at_most = fields.or("at-most", UNTIL_STEADY, |node| node.time());
    let (window, step) = (window?, step?);
    let step = match step {
        None if window % STEPS == 0 => window / STEPS,
        None => {
            return node.mistake("a window of no 24 steps", "write for example step = \"1h\"");
        }
        Some(step) => step,
    };
    if window % step != 0 || window / step > MOST_STEPS {
        let help = format!("rows go a step at a time: a window has 1 to {MOST_STEPS} whole steps");
        return fields
            .get("step")
            .unwrap_or(node)
            .mistake("a step that does not fit the window", help);
    }
    let (insert, ask, every, at_most) = (insert?, ask?, every?, at_most?);
    Some(Keep { table, time, window, step, insert, ask, every, at_most })
}

/// Returns the time column, with which the key begins.
fn time(node: &Node<'_>, draft: &Draft<'_>) -> Option<(usize, ColumnType)> {
    let first = *draft.key.as_ref()?.first()?;
    let column = draft.column(first)?;
    if let ColumnType::Timestamp(_) = column.of {
        return Some((first, column.of));
    }
    let what = format!("the key of '{}' begins with '{}'", draft.name, column.name);
    let label = "the times of which rows are to go?";
    node.labelled(what, label, "what goes lies together: a key that begins with a timestamp, such as [\"time\", \"sensor\"]")
}

/// Returns the index of the insert for arriving rows.
pub fn insert(node: &Node<'_>, table: usize, phases: &[Member<'_>]) -> Option<usize> {
    let place = member(node, node.text()?, phases, "rows come in by an insert")?;
    let name = phases[place].name;
    match phases[place].work? {
        Work::Insert { table: of, commit: Commit::Each | Commit::Batch(_), requests: None }
            if *of == table =>
        {
            Some(place)
        }
        Work::Insert { table: of, .. } if *of == table => {
            let what = format!("'{name}' commits in another way");
            node.mistake(what, "rows that come without end: commit = \"each\" or { batch = 100 }")
        }
        _ => node.mistake(format!("'{name}' is not an insert into its table"), ""),
    }
}

/// Returns the index of a query about the newest rows.
fn question(node: &Node<'_>, table: usize, phases: &[Member<'_>]) -> Option<usize> {
    let place = member(node, node.text()?, phases, "what is asked is a question by itself")?;
    let (work, name) = (phases[place].work?, phases[place].name);
    if work.table() != Some(table) {
        return node.mistake(format!("'{name}' is about another table"), "");
    }
    if work.asks_newest() {
        return Some(place);
    }
    let what = format!("'{name}' is not a question about the newest rows");
    let help = "latest, range with last = \"30m\", find and group, whose conditions may have the \
                end of the times: [\"time\", \">\", \"end - 30m\"]";
    node.mistake(what, help)
}
