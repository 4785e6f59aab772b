//! One-line descriptions of phases whose file has none.

use embermark_model::table::{RowsFrom, Table};

use crate::definition::{
    Change, Commit, Correlate, Count, End, Keys, KeysOf, Pace, Removed, Sequence, Set, Snapshot,
    Span, Work,
};

/// Describes a file.
pub fn describe_tables(tables: &[Table]) -> String {
    let of = |table: &Table| match &table.rows {
        RowsFrom::File(rows) => match &rows.files[..] {
            [] => format!("{} from a query", table.name),
            [file] => format!("{} from {file}", table.name),
            files => format!("{} from {} files", table.name, files.len()),
        },
        RowsFrom::Made(rows) => format!("{rows} made rows of {}", table.name),
        RowsFrom::Telemetry(rows) => format!("{rows} rows of telemetry in {}", table.name),
        RowsFrom::Log(rows) => format!("{rows} rows of a sensor log in {}", table.name),
    };
    tables.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// Describes a phase.
pub fn describe_work(work: &Work, tables: &[Table]) -> String {
    let name = |table: &usize| &*tables[*table].name;
    let column = |table: &usize, place: &usize| &*tables[*table].columns[*place].name;
    match work {
        Work::Insert { table, requests: Some(requests), .. } => format!(
            "posts every row of {} over HTTP, {requests} requests in flight, each answered after its commit",
            name(table)
        ),
        Work::Insert { table, commit, .. } => {
            format!("inserts every row of {}{}", name(table), committed(*commit))
        }
        Work::Get { table, keys, snapshot } => {
            let (rows, of) = (rows(&keys.ops), name(table));
            format!("reads {rows} of {of} by key{}{}", drawn(keys), within(*snapshot))
        }
        Work::Open { table, reads, after: after @ (End::Crash | End::CrashWithLog), .. } => {
            let read =
                if *reads { format!(", reads one row of {}", name(table)) } else { String::new() };
            let log = if *after == End::CrashWithLog { " with every row in its log" } else { "" };
            format!("opens the database as a crash left it{log}{read}")
        }
        Work::Open { table, keys, reads, .. } => {
            let read =
                if *reads { format!(", reads one row of {}", name(table)) } else { String::new() };
            format!("opens the database{read} and closes it, {}", times(&keys.ops))
        }
        Work::Latest { table, by, .. } => {
            format!("finds the newest row of {} of each {}", name(table), column(table, by))
        }
        Work::Range(range) => {
            let table = &range.table;
            let (rows, of) = match &range.span {
                Span::Rows { from, to } if from == to => (format!("{from} rows"), &None),
                Span::Rows { from, to } => (format!("{from} to {to} rows"), &None),
                Span::Last { of, .. } => ("the last rows".to_owned(), of),
                Span::From { of, .. } => ("a span of time".to_owned(), of),
            };
            let of =
                of.as_ref().map_or_else(String::new, |of| format!(" of a {}", column(table, of)));
            format!(
                "reads {rows}{of} of {}, {}{}{}",
                name(table),
                times(&range.keys.ops),
                drawn(&range.keys),
                within(range.snapshot),
            )
        }
        Work::Gaps { table, by, .. } => {
            format!("finds gaps in the times of each {} of {}", column(table, by), name(table))
        }
        Work::Outliers { table, of, by, .. } => format!(
            "finds values of {} far from the mean of their {} in {}",
            column(table, of),
            column(table, by),
            name(table)
        ),
        Work::Correlate(Correlate { table, of, by, between, .. }) => {
            let which = if between.is_some() { "" } else { " with the most rows" };
            let (of, by, table) = (column(table, of), column(table, by), name(table));
            format!("correlates {of} of two values of {by} in {table}{which}")
        }
        Work::Find { table, .. } => {
            format!("finds the rows of {} that meet conditions", name(table))
        }
        Work::UpdateWhere { table, set, by, .. } => {
            let set: Vec<&str> = set.iter().map(|(place, _)| column(table, place)).collect();
            let (set, table) = (set.join(", "), name(table));
            format!("sets {set} of the rows of {table} that meet conditions{}", changed(*by))
        }
        Work::Group(group) => {
            let rows = if group.conditions.is_empty() { "all rows" } else { "the rows it filters" };
            format!("groups {rows} of {}", name(&group.table))
        }
        Work::Update { table, keys, set, commit } => format!(
            "sets {} of {} of {}{}{}",
            columns(&tables[*table], set),
            spans(keys),
            name(table),
            drawn(keys),
            committed(*commit),
        ),
        Work::Upsert { table, keys, commit, .. } => format!(
            "puts {} in {}, inserted, or replacing the rows with their keys{}{}",
            rows(&keys.ops),
            name(table),
            drawn(keys),
            committed(*commit),
        ),
        Work::ReadModifyWrite { table, keys, set, commit } => format!(
            "reads {} of {}{} and sets {}{}",
            rows(&keys.ops),
            name(table),
            drawn(keys),
            columns(&tables[*table], set),
            committed(*commit),
        ),
        Work::Delete { table, removed: Removed::Keys { keys, commit } } => {
            format!(
                "deletes {} of {}{}{}",
                spans(keys),
                name(table),
                drawn(keys),
                committed(*commit)
            )
        }
        Work::Delete { table, removed: Removed::Where { by, .. } } => {
            format!("deletes the rows of {} that meet conditions{}", name(table), changed(*by))
        }
        Work::Delete { table, removed: Removed::Older { .. } } => {
            format!("deletes the old rows of {}", name(table))
        }
        Work::Sql(_) => "asks a question in SQL".to_owned(),
        Work::Mix(mix) => match mix.parts[0].pace {
            Pace::Rate(_) => {
                format!("{} phases at the same time, each at its rate", mix.parts.len())
            }
            Pace::Share(_) => format!("{} phases mixed by shares", mix.parts.len()),
        },
        Work::Keep(keep) if keep.ask.is_empty() => {
            let name = name(&keep.table);
            format!("rows of {name} come in, old ones go, until it is steady")
        }
        Work::Keep(keep) => {
            let (number, name) = (keep.ask.len(), name(&keep.table));
            format!(
                "rows of {name} come in, old ones go, {number} questions are asked, until it is steady"
            )
        }
        Work::Arrive(arrive) => {
            let (rate, name) = (arrive.rate, name(&arrive.table));
            format!("{rate} rows per second arrive in {name} from a sensor that never waits")
        }
        Work::Sequence(Sequence { insert: None, questions }) => {
            format!("asks {} questions one after the other", questions.len())
        }
        Work::Sequence(Sequence { questions, .. }) => {
            let (number, end) = match questions.len() {
                1 => ("a".to_owned(), ""),
                number => (number.to_string(), "s"),
            };
            format!("inserts every row into a fresh table, then asks {number} question{end}")
        }
    }
}

/// Formats a number of rows.
fn rows(count: &Count) -> String {
    match count {
        Count::Exactly(rows) => format!("{rows} rows"),
        Count::Share(share) => format!("{}% of the rows", share * 100.0),
        Count::BySize(_) => "some rows".to_owned(),
    }
}

/// Formats a number of rows, or of ranges of rows.
fn spans(keys: &Keys) -> String {
    match (keys.rows, &keys.ops) {
        (1, count) => rows(count),
        (each, Count::Exactly(count)) => format!("{count} ranges of {each} rows"),
        (each, _) => format!("ranges of {each} rows"),
    }
}

/// Formats how often something is done.
fn times(count: &Count) -> String {
    match count {
        Count::Exactly(times) => format!("{times} times"),
        Count::Share(share) => format!("{}% as often as it has rows", share * 100.0),
        Count::BySize(_) => "some times".to_owned(),
    }
}

fn columns(table: &Table, set: &Set) -> String {
    match set {
        Set::OneOf(places) => format!("one of {} columns", places.len()),
        Set::Columns(places) => {
            places.iter().map(|place| &*table.columns[*place].name).collect::<Vec<_>>().join(", ")
        }
    }
}

fn drawn(keys: &Keys) -> &'static str {
    match keys.of {
        KeysOf::Uniform => "",
        KeysOf::Distinct => ", none twice",
        KeysOf::Zipfian { .. } => ", some far more often",
        KeysOf::Newest { .. } => ", mostly new ones",
    }
}

/// Describes what a snapshot covers if that is unusual.
const fn within(snapshot: Snapshot) -> &'static str {
    match snapshot {
        Snapshot::Phase => "",
        Snapshot::Each => ", each in a snapshot of its own",
    }
}

fn changed(by: Change) -> String {
    match by {
        Change::Together => String::new(),
        Change::OneByOne(commit) => {
            format!(", found first and then one by one{}", committed(commit))
        }
    }
}

fn committed(commit: Commit) -> String {
    match commit {
        Commit::Each => ", one commit each".to_owned(),
        Commit::Rows(rows) => format!(", a commit every {rows}"),
        Commit::All => ", one commit for all".to_owned(),
        Commit::Batch(rows) => format!(", {rows} at once and a commit each time"),
        Commit::Behind { offered, .. } => {
            format!(", {offered} per second into a buffer, from which another thread commits them")
        }
        Commit::Bulk => " by the engine's fastest path".to_owned(),
        Commit::Csv => " from a CSV file".to_owned(),
    }
}
