//! Columns of requests to the operating system.

use embermark_model::result::{Explained, OsCost};

use super::column::{Column, flag, whole};
use crate::summary::{COUNTS, Source};

/// Returns the columns of the requests of a run to the operating system: those of the engine and,
/// with the prefix `client_`, of the client. They are totals, to be divided by `ops`, or by
/// `traced_ops` for system calls.
pub(super) fn columns() -> Vec<Column> {
    let mut columns = vec![
        flag("explaining", |line| Some(line.cell.is_explaining(line.trial?))),
        whole("traced_ops", |line| line.run?.1.explained.as_ref()?.traced_ops),
    ];
    type Side = fn(&Explained) -> Option<&OsCost>;
    let sides: [(&str, Side); 2] =
        [("", |all| Some(&all.engine)), ("client_", |all| all.client.as_ref())];
    for (prefix, side) in sides {
        columns.extend(COUNTS.iter().filter_map(|(column, of)| {
            let name = format!("{prefix}{}", column.key);
            match *of {
                Source::Calls(of) => Some(whole(&name, move |line| {
                    Some(of(side(line.run?.1.explained.as_ref()?)?.calls.as_ref()?))
                })),
                Source::Cost(of) => {
                    Some(whole(&name, move |line| of(side(line.run?.1.explained.as_ref()?)?)))
                }
                // Every run has a column of them, also if requests were not counted.
                Source::Used(_) => None,
            }
        }));
    }
    columns
}
