//! The variants of a file: each one's content is merged over the file's, and the whole is read
//! again.

use toml::de::{DeTable, DeValue};

use crate::definition::{Definition, Phase, Variant, Work};
use crate::mistakes::Log;
use crate::node::{Entry, Fields, all};

/// Tables of a file that a variant may have, besides `about`.
const PARTS: [&str; 2] = ["table", "phase"];

/// Keys of a table that a variant may change: those that leave its rows unchanged.
const OF_TABLE: [&str; 2] = ["index", "json"];

/// Reads all variants. `of` is the content of the file, and `read` reads a file as changed by a
/// variant.
pub fn read_all(
    log: &Log,
    root: &DeTable<'_>,
    of: &Definition,
    read: impl Fn(&Fields<'_>) -> Option<Definition>,
) -> Option<Vec<Variant>> {
    let file = Fields::of_file(log, root);
    let Some(variants) = file.get("variant") else { return Some(Vec::new()) };
    let entries = variants.open()?.entries();
    if entries.is_empty() {
        return variants.mistake("no variant", "", "write [variant.NAME] with what differs in it");
    }
    all(entries.iter().map(|entry| {
        let (fields, changes) = checked(entry, of)?;
        let about = fields.need("about", "about = \"one commit a row\"", |node| node.text());
        let about = about?;
        let mut merged = root.clone();
        for part in PARTS {
            if let (Some(over), Some(under)) = (fields.get(part), merged.get_mut(part)) {
                put_over(over.value, under.get_mut());
            }
        }
        let definition = read(&Fields::of_file(log, &merged))?;
        let (name, about) = (entry.name.to_owned(), about.to_owned());
        Some(Variant { name, about, changes, definition })
    }))
}

/// Adds a mistake for each phase that runs only in its own variants and has none.
pub fn check_apart(file: &Fields<'_>, of: &Definition, variants: &[Variant]) -> Option<()> {
    let phases = file.get("phase")?.open()?;
    let is_named = |place: usize| variants.iter().any(|own| own.changes.contains(&place));
    all(of.phases.iter().enumerate().map(|(place, phase)| {
        if !phase.apart || is_named(place) {
            return Some(());
        }
        let name = &phase.name;
        phases.get(name)?.open()?.get("only")?.mistake(
            format!("'{name}' never runs"),
            "no variant sets it",
            format!("write for example phase.{name} = {{}} in one, or leave 'only' out"),
        )
    }))
    .map(drop)
}

/// Returns the content of a variant, and the phases that it does differently.
fn checked<'a>(entry: &Entry<'a>, of: &Definition) -> Option<(Fields<'a>, Vec<usize>)> {
    let log = entry.node.log;
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if entry.name.is_empty() || !entry.name.bytes().all(is_letter) {
        let what = format!("'{}' cannot be the name of a variant", entry.name);
        return log.mistake(entry.at.clone(), what, "", "letters, digits, dashes and underscores");
    }
    let fields = entry.node.open()?.named(entry.at.clone());
    fields.only(&["about", PARTS[0], PARTS[1]]);
    let named = |part: &str, names: Vec<&str>| {
        let Some(node) = fields.get(part) else { return Some(Vec::new()) };
        all(node.open()?.entries().into_iter().map(|entry| {
            let place = names.iter().position(|name| *name == entry.name);
            let place = place.or_else(|| {
                let kind = if part == PARTS[0] { "table" } else { "phase" };
                log.unknown(entry.at.clone(), kind, entry.name, names.iter().copied())
            });
            if part == PARTS[0] {
                entry.node.open()?.only(&OF_TABLE);
            }
            place
        }))
    };
    let tables = named(PARTS[0], of.tables.iter().map(|table| &*table.name).collect())?;
    let mut changes = named(PARTS[1], of.phases.iter().map(|phase| &*phase.name).collect())?;
    let touched = |place: &usize| {
        let Phase { work, apart, .. } = &of.phases[*place];
        !apart && work.tables(of).iter().any(|t| tables.contains(t))
    };
    changes.extend((0..of.phases.len()).filter(touched));
    let is_made_of_changed = |place: &usize| match &of.phases[*place].work {
        Work::Sequence(sequence) => sequence.steps().any(|step| changes.contains(&step)),
        Work::Keep(keep) => keep.parts().any(|part| changes.contains(&part)),
        Work::Arrive(arrive) => changes.contains(&arrive.insert),
        _ => false,
    };
    let made_of_changed: Vec<usize> = (0..of.phases.len()).filter(is_made_of_changed).collect();
    changes.extend(made_of_changed);
    changes.sort_unstable();
    changes.dedup();
    Some((fields, changes))
}

/// Merges a variant's table over that of the file, table by table.
fn put_over<'a>(over: &DeValue<'a>, under: &mut DeValue<'a>) {
    match (over, under) {
        (DeValue::Table(over), DeValue::Table(under)) => {
            for (key, value) in over {
                match under.get_mut(&**key.get_ref()) {
                    Some(under) if under.get_ref().is_table() && value.get_ref().is_table() => {
                        put_over(value.get_ref(), under.get_mut());
                    }
                    _ => {
                        under.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (over, under) => *under = over.clone(),
    }
}

impl Work {
    /// Returns the tables that it uses: for a mix those of its parts, for an SQL query every one.
    fn tables(&self, of: &Definition) -> Vec<usize> {
        match self {
            Self::Mix(mix) => {
                mix.parts.iter().flat_map(|part| of.phases[part.phase].work.tables(of)).collect()
            }
            Self::Sequence(sequence) => {
                sequence.steps().flat_map(|step| of.phases[step].work.tables(of)).collect()
            }
            Self::Keep(keep) => vec![keep.table],
            work => {
                work.table().map_or_else(|| (0..of.tables.len()).collect(), |table| vec![table])
            }
        }
    }
}
