//! Determines the kind of a phase, and reads its keys.

use crate::definition::{Commit, Query, Set, Work};
use crate::draft::Draft;
use crate::group;
use crate::node::Fields;
use crate::reading::Reading;
use crate::sql;

/// What a phase does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Insert,
    Get,
    Open,
    Latest,
    Range,
    Find,
    Gaps,
    Outliers,
    Correlate,
    Group,
    Update,
    Upsert,
    ReadModifyWrite,
    Delete,
    Sql,
    Mix,
    Sequence,
    Keep,
    Arrive,
}

/// Values of `do`, with the keys that each may have.
const VERBS: &[(&str, Verb, &[&str])] = &[
    ("insert", Verb::Insert, &["commit", "over", "in-flight"]),
    ("get", Verb::Get, &["ops", "keys", "absent", "snapshot"]),
    ("open", Verb::Open, &["ops", "keys", "absent", "read", "after"]),
    ("latest", Verb::Latest, &["by", "time", "ops", "each"]),
    (
        "range",
        Verb::Range,
        &["ops", "keys", "absent", "rows", "last", "span", "of", "time", "snapshot"],
    ),
    ("find", Verb::Find, &["where", "select", "per", "ops"]),
    ("gaps", Verb::Gaps, &["by", "time", "longer-than", "ops", "each"]),
    ("outliers", Verb::Outliers, &["of", "by", "deviations", "ops", "each"]),
    ("correlate", Verb::Correlate, &["of", "by", "time", "bucket", "between", "ops"]),
    ("group", Verb::Group, &["where", "by", "compute", "having", "order", "limit", "ops", "each"]),
    ("update", Verb::Update, &["ops", "keys", "absent", "rows", "set", "commit", "where", "per"]),
    ("upsert", Verb::Upsert, &["ops", "keys", "absent", "set", "commit"]),
    ("read-modify-write", Verb::ReadModifyWrite, &["ops", "keys", "absent", "set", "commit"]),
    (
        "delete",
        Verb::Delete,
        &["ops", "keys", "absent", "rows", "commit", "older", "time", "where", "per"],
    ),
];

impl Verb {
    /// Whether it consists of other phases.
    pub fn is_composed(self) -> bool {
        matches!(self, Self::Mix | Self::Sequence | Self::Keep | Self::Arrive)
    }

    /// Whether it is a query whose number is read apart from it. One operation is the whole query.
    pub fn is_question(self) -> bool {
        // The number of other operations belongs to their keys.
        let keys = self.keys();
        keys.contains(&"ops") && !keys.contains(&"keys")
    }

    /// Reads the kind of a phase, which has exactly one of `do`, `sql`, `mix`, `sequence`, `keep`
    /// and `arrive`.
    pub fn of(fields: &Fields<'_>) -> Option<Self> {
        let given = |key: &str| fields.get(key).is_some();
        let sql = fields.entries().iter().any(|entry| entry.name.starts_with("sql"));
        let composed = [
            ("mix", Self::Mix),
            ("sequence", Self::Sequence),
            ("keep", Self::Keep),
            ("arrive", Self::Arrive),
        ];
        let composed: Vec<Self> =
            composed.into_iter().filter(|(key, _)| given(key)).map(|(_, verb)| verb).collect();
        match (given("do"), sql, &composed[..]) {
            (true, false, []) => {
                let place = fields.get("do")?.place_in("verb", VERBS.iter().map(|verb| verb.0))?;
                Some(VERBS[place].1)
            }
            (false, true, []) => Some(Self::Sql),
            (false, false, [verb]) => Some(*verb),
            (false, false, []) => fields.mistake(
                "a phase that does nothing",
                format!(
                    "write do = \"…\" with one of {}; or sql, mix, sequence, keep or arrive",
                    VERBS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
                ),
            ),
            _ => fields.mistake(
                "several things in one phase",
                "one of do, sql, mix, sequence, keep and arrive: make several phases",
            ),
        }
    }

    /// Returns the keys that may accompany `do`.
    fn keys(self) -> &'static [&'static str] {
        let found = VERBS.iter().find(|(_, verb, _)| *verb == self);
        found.map_or(&[], |(.., keys)| *keys)
    }
}

/// Returns the names of the verbs that are queries, as a sentence lists them.
pub fn questions() -> String {
    let questions = VERBS.iter().filter(|(_, verb, _)| verb.is_question());
    let questions: Vec<&str> = questions.map(|(name, ..)| *name).collect();
    match questions.split_last() {
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the index of a phase's table.
pub fn table_of(fields: &Fields<'_>, drafts: &[Draft<'_>]) -> Option<usize> {
    if drafts.is_empty() {
        return None;
    }
    let Some(node) = fields.get("table") else {
        return match drafts {
            [] | [_] => Some(0),
            several => fields.mistake(
                "it is not said of which table",
                format!("write table = \"{}\"", several[0].name),
            ),
        };
    };
    node.place_in("table", drafts.iter().map(|draft| draft.name))
}

/// Reads what a phase does that does not consist of others.
pub fn read(
    fields: &Fields<'_>,
    verb: Verb,
    drafts: &[Draft<'_>],
    engines: &[&str],
) -> Option<Work> {
    if verb == Verb::Sql {
        return sql::read(fields, engines);
    }
    fields.only(&[&["do", "about", "only", "table"], verb.keys()].concat());
    let table = table_of(fields, drafts)?;
    let reading = Reading { fields, table, draft: &drafts[table] };
    let ask = |query| Work::Ask { table, query };
    match verb {
        Verb::Insert => {
            let (commit, requests) = (reading.commit(true), reading.requests());
            let (commit, requests) = (commit?, requests?);
            if let (Some(_), Some(node)) = (requests, fields.get("commit"))
                && commit != Commit::Each
            {
                let help = "leave 'commit' out: each row is one, after which it is answered";
                return node.mistake("'commit' beside 'over'", help);
            }
            Some(Work::Insert { table, commit, requests })
        }
        Verb::Get => {
            let (keys, snapshot) = (reading.keys(), reading.snapshot());
            Some(Work::Get { table, keys: keys?, snapshot: snapshot? })
        }
        Verb::Open => reading.open(),
        Verb::Latest => reading.latest().map(ask),
        Verb::Range => reading.range(),
        Verb::Find => reading.find().map(ask),
        Verb::Gaps => reading.gaps().map(ask),
        Verb::Outliers => reading.outliers().map(ask),
        Verb::Correlate => reading.correlate().map(ask),
        Verb::Group => group::read(&reading).map(Query::Group).map(ask),
        Verb::Update if fields.get("where").is_some() => reading.update_where(),
        Verb::Update => {
            let (keys, set, commit) = reading.set_by_keys(false)?;
            Some(Work::Update { keys, set, commit, table })
        }
        Verb::Upsert => {
            let (keys, set, commit) = reading.set_by_keys(true)?;
            if let (Set::OneOf(_), Some(node)) = (&set, fields.get("set")) {
                let help = "name the columns that differ from the row as it was: set = [\"temp\"]";
                return node.mistake("an upsert writes whole rows", help);
            }
            Some(Work::Upsert { table, keys, set, commit })
        }
        Verb::ReadModifyWrite => {
            let (keys, set, commit) = reading.set_by_keys(false)?;
            Some(Work::ReadModifyWrite { table, keys, set, commit })
        }
        Verb::Delete => Some(Work::Delete { table, removed: reading.removed()? }),
        Verb::Sql | Verb::Mix | Verb::Sequence | Verb::Keep | Verb::Arrive => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_is_a_question_if_it_has_ops_without_keys() {
        assert_eq!(questions(), "latest, find, gaps, outliers, correlate and group");
        assert!(!Verb::Sql.is_question() && !Verb::Sequence.is_question());
    }

    #[test]
    fn the_table_of_verbs_in_the_documentation_has_each_with_its_keys() {
        let page = include_str!("../../../docs/workload-files.md");
        let (_, table) = page.split_once("| `do` | what |").unwrap();
        let mut documented: Vec<(&str, Vec<&str>)> = Vec::new();
        for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.split('|').collect();
            if let Some(name) = cells[1].split('"').nth(1) {
                documented.push((name, Vec::new()));
            }
            let codes = cells[3].split('`').skip(1).step_by(2);
            let words = codes.filter_map(|code| code.split(' ').next());
            documented.last_mut().unwrap().1.extend(words);
        }
        assert_eq!(documented.len(), VERBS.len(), "{documented:?}");
        for (name, _, keys) in VERBS {
            let (_, words) = documented.iter().find(|(known, _)| known == name).unwrap();
            let is_as_update = words.contains(&"update");
            let has_all = keys.iter().all(|key| words.contains(key));
            assert!(is_as_update || has_all, "{name}: {words:?}");
        }
    }
}
