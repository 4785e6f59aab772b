//! Rows that arrive at a rate.

use std::time::Duration;

use embermark_model::table::ColumnType;

use crate::definition::{Arrive, Commit, LASTS, Work};
use crate::draft::Draft;
use crate::keep;
use crate::mix::Member;
use crate::node::{Fields, Node};
use crate::phase;
use crate::time;

/// Largest number of waiting rows, if the file does not specify it.
const QUEUE: usize = 1_000;

/// Largest number of rows that may wait: a pipe holds no more numbers.
const LONGEST_QUEUE: usize = 100_000;

/// Largest number of rows per second.
pub const FASTEST: u64 = 1_000_000;

/// Reads a phase with `arrive`. `phases` are all phases of the file.
pub fn read(fields: &Fields<'_>, phases: &[Member<'_>], drafts: &[Draft<'_>]) -> Option<Arrive> {
    fields.only(&["arrive", "table", "insert", "queue", "collect", "for", "only", "about"]);
    let node = fields.get("arrive")?;
    let table = phase::table_of(fields, drafts)?;
    let time = time(&node, &drafts[table]);
    let rate = rate(&node);
    let insert = fields.need("insert", "insert = \"rows\": the name of an insert", |node| {
        keep::insert(&node, table, phases)
    });
    let queue = fields.or("queue", QUEUE, |node| {
        let rows = node.count()?;
        let fits = usize::try_from(rows).ok().filter(|rows| *rows <= LONGEST_QUEUE);
        fits.or_else(|| {
            let what = format!("a queue of {rows} rows");
            node.mistake(what, format!("1 to {LONGEST_QUEUE}: write for example queue = 1000"))
        })
    });
    let collect = fields.maybe("collect", |node| node.time());
    let lasts = fields.or("for", LASTS, |node| node.time());
    let (insert, collect) = (insert?, collect?);
    let batch = match phases[insert].work {
        Some(Work::Insert { commit: Commit::Batch(rows), .. }) => Some(*rows),
        _ => None,
    };
    if let (Some(_), Some(node)) = (batch, fields.get("collect")) {
        let what = format!("'collect' beside a batch of '{}'", phases[insert].name);
        return node.labelled(what, "two commits of the same rows", "leave one of them out");
    }
    let (time, rate, queue, lasts) = (time?, rate?, queue?, lasts?);
    // A search tries rates of its own.
    let is_searched = fields.get("only").is_some_and(|node| node.as_text() == Some("rate"));
    let fastest = if is_searched { FASTEST } else { rate };
    let commit = collect.map_or(batch.unwrap_or(1), |period| Arrive::rows_in(period, fastest));
    check_window(fields, fastest, commit, lasts)?;
    Some(Arrive { table, time, insert, rate, queue, collect, lasts })
}

/// Checks that a window has time for two commits of this many rows after the one that opens it.
fn check_window(fields: &Fields<'_>, rate: u64, commit: u64, lasts: Duration) -> Option<()> {
    let rows = (lasts.as_nanos() * u128::from(rate)).div_ceil(1_000_000_000);
    // The commit that opens it also has rows of the warm-up, unless each row is a commit.
    let least = (2 * u128::from(commit)).max(3);
    if rows >= least {
        return Some(());
    }
    let node = ["collect", "for", "insert"].into_iter().find_map(|key| fields.get(key))?;
    node.labelled(
        "a window of fewer than three commits",
        "two more after the first take longer than 'for'",
        format!(
            "it begins with a commit and ends two or more commits later: write for = \"{}s\" or \
             more, or smaller commits",
            least.div_ceil(u128::from(rate))
        ),
    )
}

/// Returns the time column, which gives repeated rows their own keys.
fn time(node: &Node<'_>, draft: &Draft<'_>) -> Option<usize> {
    let is_time = |place: &&usize| {
        draft.column(**place).is_some_and(|column| matches!(column.of, ColumnType::Timestamp(_)))
    };
    let time = draft.key.as_ref()?.iter().find(is_time);
    time.copied().or_else(|| {
        let what = format!("the key of '{}' has no time", draft.name);
        let help = "rows come again, each time later: name a key with a timestamp, such as \
                    [\"time\", \"sensor\"]";
        node.labelled(what, "the rows that arrive need a time", help)
    })
}

fn rate(node: &Node<'_>) -> Option<u64> {
    let text = node.text()?;
    let rate = time::rate(text).map(f64::round);
    let fits = rate.filter(|rate| (1.0..=FASTEST as f64).contains(rate));
    fits.map(|rate| rate as u64).or_else(|| {
        let help =
            format!("rows per second, from 1/s to {FASTEST}/s: write for example \"1000/s\"");
        node.mistake(format!("'{text}' is not a valid arrival rate"), help)
    })
}
