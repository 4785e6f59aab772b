//! Phases one after the other, timed as one.

use crate::definition::{Sequence, Work};
use crate::mix::{Member, member};
use crate::node::Fields;
use crate::phase;

/// Reads a phase with `sequence`. `phases` are all phases of the file.
pub fn read(fields: &Fields<'_>, phases: &[Member<'_>]) -> Option<Sequence> {
    fields.only(&["sequence", "about", "ops"]);
    let node = fields.get("sequence")?;
    let steps = node.each(|step| {
        let why = "a sequence is of phases that are not";
        let place = member(&step, step.text()?, phases, why)?;
        Some((step, place))
    })?;
    if steps.len() < 2 {
        let help = "write for example [\"ingest\", \"hourly\"]";
        return node.mistake("a sequence has two phases or more", help);
    }
    let (mut insert, mut questions) = (None, Vec::new());
    for (n, (step, place)) in steps.iter().enumerate() {
        match phases[*place].work? {
            Work::Insert { requests: Some(_), .. } => {
                let what = format!("'{}' inserts what another process posts", phases[*place].name);
                return step.mistake(what, "leave 'over' out");
            }
            Work::Insert { .. } if n == 0 => insert = Some(*place),
            Work::Insert { .. } => {
                let what = format!("'{}' comes after another phase", phases[*place].name);
                return step.mistake(what, "an insert begins a sequence, into a fresh table");
            }
            Work::Ask { .. } => questions.push(*place),
            _ => {
                let what =
                    format!("'{}' is not a question that a sequence can have", phases[*place].name);
                let help = format!("an insert may come first; then {}", phase::questions());
                return step.mistake(what, help);
            }
        }
    }
    if let (Some(_), Some(ops)) = (insert, fields.get("ops")) {
        return ops.mistake("'ops' beside an insert", "its rows are the operations");
    }
    Some(Sequence { insert, questions })
}
