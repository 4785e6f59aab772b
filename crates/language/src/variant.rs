//! The variants of a file: each one's content is merged over the file's, and the whole is read
//! again.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::definition::{Definition, Phase, Variant, Work};
use crate::mistakes::Log;
use crate::names::is_dashed;
use crate::node::{Entry, Fields, all};

/// Tables of a file that a variant may have, besides `about`.
const PARTS: [&str; 2] = ["table", "phase"];

/// Keys of a table that a variant may change: those that leave its rows unchanged.
const OF_TABLE: [&str; 2] = ["index", "json"];

/// Returns the names of the variants, in the order of the file.
pub fn names<'a>(file: &Fields<'a>) -> Vec<&'a str> {
    let variants = file.get("variant").filter(|node| node.value.is_table());
    let entries = variants.and_then(|node| node.open()).map(|fields| fields.entries());
    entries.into_iter().flatten().map(|entry| entry.name).collect()
}

/// Reads all variants. `root` is the content of the file, `of` what it says if nothing is wrong,
/// and `read` reads a file as changed by a variant.
pub fn read_all(
    file: &Fields<'_>,
    root: &DeTable<'_>,
    of: Option<&Definition>,
    read: impl Fn(&Fields<'_>) -> Option<Definition>,
) -> Option<Vec<Variant>> {
    let Some(variants) = file.get("variant") else { return Some(Vec::new()) };
    let entries = variants.open()?.entries();
    if entries.is_empty() {
        return variants.mistake("no variant", "write [variant.NAME] with what differs in it");
    }
    all(entries.iter().map(|entry| {
        let parts = parts(entry, file)?;
        let about = parts.fields.need("about", "about = \"one commit a row\"", |node| node.text());
        // What is wrong in the file itself is found again in what is merged.
        let log = Log::default();
        let merged = merged(root, &parts);
        let definition = read(&Fields::of_file(&log, &merged));
        file.log.add_new(log);
        let (name, about) = (entry.name.to_owned(), about?.to_owned());
        let changes = changes(&parts, of?);
        parts.sound.then_some(())?;
        Some(Variant { name, about, changes, definition: definition? })
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
        phases.get(name)?.open()?.get("only")?.labelled(
            format!("'{name}' never runs"),
            "no variant sets it",
            format!("write for example phase.{name} = {{}} in one, or leave 'only' out"),
        )
    }))
    .map(drop)
}

/// The content of a variant.
struct Parts<'a> {
    fields: Fields<'a>,
    /// What it changes of tables that the file has.
    tables: Vec<Entry<'a>>,
    /// What it changes of phases that the file has.
    phases: Vec<Entry<'a>>,
    /// Whether the file has all that it changes.
    sound: bool,
}

/// Returns the content of a variant. Adds a mistake for each table or phase that the file does not
/// have.
fn parts<'a>(entry: &Entry<'a>, file: &Fields<'_>) -> Option<Parts<'a>> {
    let is_named = !entry.name.is_empty() && is_dashed(entry.name);
    if !is_named {
        let what = format!("'{}' cannot be the name of a variant", entry.name);
        entry.at_name().add(what, "", "letters, digits, dashes and underscores");
    }
    let fields = entry.node.open()?.named(entry.at.clone());
    fields.only(&["about", PARTS[0], PARTS[1]]);
    let tables = changed(&fields, PARTS[0], file);
    for table in tables.iter().flatten() {
        if let Some(fields) = table.node.open() {
            fields.only(&OF_TABLE);
        }
    }
    let phases = changed(&fields, PARTS[1], file);
    let sound = is_named && tables.is_some() && phases.is_some();
    let (tables, phases) = (tables.unwrap_or_default(), phases.unwrap_or_default());
    Some(Parts { fields, tables, phases, sound })
}

/// Returns what a variant changes of the tables or phases of the file.
fn changed<'a>(
    fields: &Fields<'a>,
    part: &'static str,
    file: &Fields<'_>,
) -> Option<Vec<Entry<'a>>> {
    let Some(node) = fields.get(part) else { return Some(Vec::new()) };
    let known = file.get(part).filter(|node| node.value.is_table());
    let known = known.and_then(|node| node.open())?.entries();
    let is_known = |entry: &Entry<'_>| known.iter().any(|known| known.name == entry.name);
    let mut entries = node.open()?.entries();
    for entry in entries.iter().filter(|entry| !is_known(entry)) {
        let names = known.iter().map(|known| known.name);
        let _: Option<()> = entry.at_name().unknown(part, entry.name, names);
    }
    entries.retain(is_known);
    Some(entries)
}

/// Returns the content of the file as changed by a variant.
fn merged<'a>(root: &DeTable<'a>, parts: &Parts<'a>) -> DeTable<'a> {
    let mut merged = root.clone();
    for (part, entries) in PARTS.into_iter().zip([&parts.tables, &parts.phases]) {
        let Some(DeValue::Table(under)) = merged.get_mut(part).map(Spanned::get_mut) else {
            continue;
        };
        for entry in entries {
            let Entry { name, node, .. } = entry;
            match under.get_mut(*name) {
                Some(under) if under.get_ref().is_table() && node.value.is_table() => {
                    put_over(node.value, under.get_mut());
                }
                Some(under) => *under = Spanned::new(node.at.clone(), node.value.clone()),
                None => {}
            }
        }
    }
    merged
}

/// Returns the phases that a variant does differently.
fn changes(parts: &Parts<'_>, of: &Definition) -> Vec<usize> {
    let is_in = |entries: &[Entry<'_>], name: &str| entries.iter().any(|e| e.name == name);
    let is_touched = |phase: &Phase| {
        let tables = phase.work.tables(of);
        is_in(&parts.phases, &phase.name)
            || !phase.apart
                && tables.iter().any(|table| is_in(&parts.tables, &of.tables[*table].name))
    };
    let mut changes: Vec<usize> =
        (0..of.phases.len()).filter(|place| is_touched(&of.phases[*place])).collect();
    // In a mix every operation is a commit, whatever the `commit` of its phase.
    let is_other = |name: &str| {
        let entry = parts.phases.iter().find(|entry| entry.name == name);
        let given = entry.and_then(|entry| entry.node.value.as_table());
        given.is_some_and(|given| given.keys().any(|key| key.get_ref() != "commit"))
    };
    let is_made_of_changed = |place: &usize| match &of.phases[*place].work {
        Work::Sequence(sequence) => sequence.steps().any(|step| changes.contains(&step)),
        Work::Keep(keep) => keep.parts().any(|part| changes.contains(&part)),
        Work::Arrive(arrive) => changes.contains(&arrive.insert),
        Work::Mix(mix) => mix.parts.iter().any(|part| is_other(&of.phases[part.phase].name)),
        _ => false,
    };
    let made_of_changed: Vec<usize> = (0..of.phases.len()).filter(is_made_of_changed).collect();
    changes.extend(made_of_changed);
    changes.sort_unstable();
    changes.dedup();
    changes
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
