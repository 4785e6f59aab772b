//! Phases at the same time.

use crate::definition::{Change, Commit, LASTS, Mix, OPS, Pace, Part, Removed, UNTIL_STEADY, Work};
use crate::node::{Entry, Fields, Node, all};
use crate::phase::Verb;
use crate::time;

/// Largest number of clients of a mix.
const MOST_CLIENTS: u64 = 256;

/// Duration of a mix that runs until it is steady.
const STEADY: &str = "until steady";

/// A phase that another one may name.
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// Kind of phase, if it could be read.
    pub verb: Option<Verb>,
    /// What it does, if it could be read.
    pub work: Option<&'a Work>,
}

impl Member<'_> {
    /// Whether it consists of others itself.
    pub fn is_composed(&self) -> bool {
        self.verb.is_some_and(Verb::is_composed)
    }
}

/// Returns the index of a named phase that does not consist of others. `why` explains that rule.
pub fn member(node: &Node<'_>, name: &str, phases: &[Member<'_>], why: &str) -> Option<usize> {
    let Some(place) = phases.iter().position(|phase| phase.name == name) else {
        let names = phases.iter().filter(|phase| !phase.is_composed()).map(|phase| phase.name);
        return node.unknown("phase", name, names);
    };
    if phases[place].is_composed() {
        return node.mistake(format!("'{name}' is made of phases itself"), why);
    }
    Some(place)
}

/// Reads a phase with `mix`. `phases` are all phases of the file.
pub fn read(fields: &Fields<'_>, phases: &[Member<'_>]) -> Option<Mix> {
    fields.only(&["mix", "for", "at-most", "clients", "ops", "only", "about"]);
    let node = fields.get("mix")?;
    let parts = parts(&node, phases);
    let clients = fields.or("clients", 1, |node| {
        let clients = node.count()?;
        if clients <= MOST_CLIENTS {
            return Some(clients as u32);
        }
        node.mistake(format!("{clients} clients"), format!("at most {MOST_CLIENTS}"))
    });
    let until_steady = fields.get("for").is_some_and(|node| node.as_text() == Some(STEADY));
    let lasts = fields.maybe("for", |node| {
        let until = until_steady.then_some(UNTIL_STEADY);
        until.or_else(|| node.time())
    });
    let at_most = fields.maybe("at-most", |node| node.time());
    let ops = fields.maybe("ops", |node| node.count());
    let (parts, clients, lasts, ops) = (parts?, clients?, lasts?, ops?);
    let at_most = at_most?;
    let by_rates = matches!(parts[0].pace, Pace::Rate(_));
    let beside =
        |key: &str, why: &str| fields.get(key)?.mistake(format!("'{key}' in this mix"), why);
    if by_rates && fields.get("clients").is_some() {
        return beside("clients", "in a mix by rates each part is a client");
    }
    if ops.is_some() && (by_rates || lasts.is_some()) {
        return beside("ops", "a mix by rates, or with 'for', ends after its time");
    }
    if until_steady && !by_rates {
        return beside("for", "only a mix by rates runs until it is steady");
    }
    if at_most.is_some() && !until_steady {
        return beside("at-most", "it is the longest time of a mix with for = \"until steady\"");
    }
    let lasts = if by_rates { Some(lasts.unwrap_or(LASTS)) } else { lasts };
    let lasts = at_most.or(lasts);
    Some(Mix { parts, clients, lasts, until_steady, ops: ops.unwrap_or(OPS) })
}

fn parts(node: &Node<'_>, phases: &[Member<'_>]) -> Option<Vec<Part>> {
    let entries = node.open()?.entries();
    if entries.is_empty() {
        return node.mistake(
            "a mix of nothing",
            "write for example { ingest = \"200/s\", read = \"20/s\" }",
        );
    }
    let parts = all(entries.iter().map(|entry| {
        let pace = pace(&entry.node);
        let phase = part(entry, phases);
        Some(Part { phase: phase?, pace: pace? })
    }))?;
    upserts_alone(&entries, &parts, phases)?;
    let shares = parts.iter().filter_map(|part| match part.pace {
        Pace::Share(share) => Some(share),
        Pace::Rate(_) => None,
    });
    let (count, sum) = shares.fold((0, 0.0), |(count, sum), share| (count + 1, sum + share));
    if count != 0 && count != parts.len() {
        return node.mistake(
            "rates and shares in one mix",
            "all parts have a rate, such as \"200/s\", or all have a share, such as 0.95",
        );
    }
    if count != 0 && (sum - 1.0_f64).abs() > 1e-6 {
        return node.labelled(
            "the shares do not make up the whole",
            format!("they sum to {sum}"),
            "all together are 1",
        );
    }
    Some(parts)
}

/// Refuses an upsert beside a delete of the same table: what is left depends on which of two clients
/// came first.
fn upserts_alone(entries: &[Entry<'_>], parts: &[Part], phases: &[Member<'_>]) -> Option<()> {
    let table_of = |part: &Part, is: fn(&Work) -> bool| {
        phases[part.phase].work.filter(|work| is(work)).and_then(Work::table)
    };
    for (entry, part) in entries.iter().zip(parts) {
        let Some(table) = table_of(part, |work| matches!(work, Work::Delete { .. })) else {
            continue;
        };
        let upserts = |part: &Part| table_of(part, |work| matches!(work, Work::Upsert { .. }));
        if let Some(upsert) = parts.iter().find(|part| upserts(part) == Some(table)) {
            let name = phases[upsert.phase].name;
            return entry.at_name().mistake(
                format!("'{}' deletes rows that '{name}' writes", entry.name),
                "which of them comes last is not known: name one of them in a mix of its own",
            );
        }
    }
    Some(())
}

fn pace(node: &Node<'_>) -> Option<Pace> {
    if let Some(text) = node.as_text().filter(|text| text.contains('/')) {
        return time::rate(text).map(Pace::Rate).or_else(|| {
            node.mistake(
                format!("'{text}' is not a rate"),
                "write for example \"200/s\", \"0.5/s\" or \"1/m\"",
            )
        });
    }
    match node.share()? {
        0.0 => node.mistake("a share of nothing", "leave it out"),
        share => Some(Pace::Share(share)),
    }
}

fn part(entry: &Entry<'_>, phases: &[Member<'_>]) -> Option<usize> {
    // A mistake is shown at the name, not at its share or rate.
    let at_name = entry.at_name();
    let place = member(&at_name, entry.name, phases, "a mix is of phases that are not")?;
    let refused = |what: &str, why: &str| at_name.mistake(format!("'{}' {what}", entry.name), why);
    match phases[place].work? {
        Work::Open { .. } => refused("opens the database", "others work on it in a mix"),
        Work::UpdateWhere { by: Change::OneByOne(_), .. }
        | Work::Delete { removed: Removed::Where { by: Change::OneByOne(_), .. }, .. } => refused(
            "changes rows one by one",
            "in a mix each operation is a commit: leave 'commit' out",
        ),
        Work::Update { keys, .. } | Work::Delete { removed: Removed::Keys { keys, .. }, .. }
            if keys.rows > 1 =>
        {
            refused(
                "changes several rows at once",
                "in a mix an operation changes one: leave 'rows' out",
            )
        }
        Work::Insert {
            commit: Commit::Batch(_) | Commit::Behind { .. } | Commit::Bulk | Commit::Csv,
            ..
        } => refused(
            "takes the fastest path",
            "in a mix rows come one after the other: name an insert with commit = \"each\"",
        ),

        Work::Insert { requests: Some(_), .. } => refused(
            "inserts what another process posts",
            "in a mix clients of this one work at the same time",
        ),
        Work::Insert { commit: Commit::All, .. }
        | Work::Update { commit: Commit::All, .. }
        | Work::Upsert { commit: Commit::All, .. }
        | Work::ReadModifyWrite { commit: Commit::All, .. }
        | Work::Delete { removed: Removed::Keys { commit: Commit::All, .. }, .. } => refused(
            "commits after all",
            "a mix knows no last operation: name a phase with commit = \"each\" or a number",
        ),
        _ => Some(place),
    }
}
