//! One-line descriptions of phases whose file has none.

use embermark_model::table::{RowsFrom, Table};

use crate::definition::{
    Change, Commit, Correlate, Count, End, Keys, KeysOf, Pace, Query, Removed, Sequence, Set,
    Snapshot, Span, Work,
};
use crate::draft::Draft;

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
pub fn describe_work(work: &Work, drafts: &[Draft<'_>]) -> String {
    let table = match work {
        Work::Keep(keep) => Some(keep.table),
        work => work.table(),
    };
    let draft = table.map(|table| &drafts[table]);
    let name = draft.map_or("", |draft| draft.name);
    let column =
        |place: &usize| draft.and_then(|draft| draft.column(*place)).map_or("", |c| &*c.name);
    let columns = |set: &Set| match set {
        Set::OneOf(places) => format!("one of {} columns", places.len()),
        Set::Columns(places) => places.iter().map(column).collect::<Vec<_>>().join(", "),
    };
    match work {
        Work::Insert { requests: Some(requests), .. } => format!(
            "posts every row of {name} over HTTP, {requests} requests in flight, each answered after its commit"
        ),
        Work::Insert { commit, .. } => {
            format!("inserts every row of {name}{}", committed(*commit))
        }
        Work::Get { keys, snapshot, .. } => {
            let rows = rows(&keys.ops);
            format!("reads {rows} of {name} by key{}{}", drawn(keys), within(*snapshot))
        }
        Work::Open { keys, reads, after, .. } => {
            let read = if *reads { format!(", reads one row of {name}") } else { String::new() };
            match after {
                End::Close => {
                    format!("opens the database{read} and closes it, {}", times(&keys.ops))
                }
                End::Crash => format!("opens the database as a crash left it{read}"),
                End::CrashWithLog => {
                    format!("opens the database as a crash left it with every row in its log{read}")
                }
            }
        }
        Work::Range(range) => {
            let (rows, of) = match &range.span {
                Span::Rows { from, to } if from == to => (format!("{from} rows"), &None),
                Span::Rows { from, to } => (format!("{from} to {to} rows"), &None),
                Span::Last { of, .. } => ("the last rows".to_owned(), of),
                Span::From { of, .. } => ("a span of time".to_owned(), of),
            };
            let of = of.as_ref().map_or_else(String::new, |of| format!(" of a {}", column(of)));
            let times = times(&range.keys.ops);
            let (drawn, within) = (drawn(&range.keys), within(range.snapshot));
            format!("reads {rows}{of} of {name}, {times}{drawn}{within}")
        }
        Work::Ask { query, .. } => match query {
            Query::Latest { by, .. } => {
                format!("finds the newest row of {name} of each {}", column(by))
            }
            Query::Find { .. } => format!("finds the rows of {name} that meet conditions"),
            Query::Gaps { by, .. } => {
                format!("finds gaps in the times of each {} of {name}", column(by))
            }
            Query::Outliers { of, by, .. } => {
                let (of, by) = (column(of), column(by));
                format!("finds values of {of} far from the mean of their {by} in {name}")
            }
            Query::Correlate(Correlate { of, by, between, .. }) => {
                let which = if between.is_some() { "" } else { " with the most rows" };
                let (of, by) = (column(of), column(by));
                format!("correlates {of} of two values of {by} in {name}{which}")
            }
            Query::Group(group) => {
                let all = group.conditions.is_empty();
                let rows = if all { "all rows" } else { "the rows it filters" };
                format!("groups {rows} of {name}")
            }
        },
        Work::UpdateWhere { set, by, .. } => {
            let set: Vec<&str> = set.iter().map(|(place, _)| column(place)).collect();
            let (set, changed) = (set.join(", "), changed(*by));
            format!("sets {set} of the rows of {name} that meet conditions{changed}")
        }
        Work::Update { keys, set, commit, .. } => {
            let (columns, rows) = (columns(set), spans(keys));
            let (drawn, committed) = (drawn(keys), committed(*commit));
            format!("sets {columns} of {rows} of {name}{drawn}{committed}")
        }
        Work::Upsert { keys, commit, .. } => {
            let (rows, drawn, committed) = (rows(&keys.ops), drawn(keys), committed(*commit));
            format!(
                "puts {rows} in {name}, inserted, or replacing the rows with their keys{drawn}{committed}"
            )
        }
        Work::ReadModifyWrite { keys, set, commit, .. } => {
            let (rows, columns) = (rows(&keys.ops), columns(set));
            let (drawn, committed) = (drawn(keys), committed(*commit));
            format!("reads {rows} of {name}{drawn} and sets {columns}{committed}")
        }
        Work::Delete { removed: Removed::Keys { keys, commit }, .. } => {
            let (rows, drawn, committed) = (spans(keys), drawn(keys), committed(*commit));
            format!("deletes {rows} of {name}{drawn}{committed}")
        }
        Work::Delete { removed: Removed::Where { by, .. }, .. } => {
            format!("deletes the rows of {name} that meet conditions{}", changed(*by))
        }
        Work::Delete { removed: Removed::Older { .. }, .. } => {
            format!("deletes the old rows of {name}")
        }
        Work::Sql(_) => "asks a question in SQL".to_owned(),
        Work::Mix(mix) => match mix.parts[0].pace {
            Pace::Rate(_) => {
                format!("{} phases at the same time, each at its rate", mix.parts.len())
            }
            Pace::Share(_) => format!("{} phases mixed by shares", mix.parts.len()),
        },
        Work::Keep(keep) => {
            let asked = match keep.ask.len() {
                0 => String::new(),
                number => format!(", {number} questions are asked"),
            };
            format!("rows of {name} come in, old ones go{asked}, until it is steady")
        }
        Work::Arrive(arrive) => {
            let rate = arrive.rate;
            format!("{rate} rows per second arrive in {name} from a sensor that never waits")
        }
        Work::Sequence(Sequence { insert: None, questions }) => {
            format!("asks {} questions one after the other", questions.len())
        }
        Work::Sequence(Sequence { questions, .. }) => {
            let questions = match questions.len() {
                1 => "a question".to_owned(),
                number => format!("{number} questions"),
            };
            format!("inserts every row into a fresh table, then asks {questions}")
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
