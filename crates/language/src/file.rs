//! A workload file from its first line to its last.

use std::cmp::Reverse;
use std::path::Path;

use embermark_model::table::RowsFrom;
use toml::de::DeTable;

use crate::about;
use crate::checks;
use crate::definition::{Definition, Variant};
use crate::mistakes::{Log, Mistakes};
use crate::node::{Entry, Fields, all};
use crate::phases;
use crate::table::Draft;
use crate::variant;

/// Reads a workload file. `file` is how messages call it and, where it has no name of its own, what
/// its name is made of; `engines` are the ids that may stand behind `sql-`.
///
/// # Errors
/// Every mistake in it; of a text that is no TOML the first.
pub fn parse(file: &str, text: &str, engines: &[&str]) -> Result<Definition, Mistakes> {
    let log = Log::default();
    let definition = read(file, text, engines, &log);
    match definition {
        Some(definition) if log.is_empty() => Ok(definition),
        _ => Err(log.close(file, text)),
    }
}

fn read(file: &str, text: &str, engines: &[&str], log: &Log) -> Option<Definition> {
    let root = match DeTable::parse(text) {
        Ok(root) => root,
        Err(error) => {
            let at = error.span().unwrap_or(0..0);
            return log.mistake(at, "this is no TOML", error.message(), "");
        }
    };
    let file_fields = Fields::of_file(log, root.get_ref());
    file_fields.only(&["name", "about", "usual", "table", "phase", "variant"]);
    let definition = body(file, &file_fields, engines, log);
    // What is wrong with the file itself would be said of each variant again.
    let definition = definition.filter(|_| log.is_empty())?;
    let body = |fields: &Fields<'_>| body(file, fields, engines, log);
    let variants = variant::read_all(log, root.get_ref(), &definition, body)?;
    let (scales, usual) = usual(&file_fields, &definition, &variants)?;
    Some(Definition { scales, variants, usual, ..definition })
}

/// What runs where nothing else is asked for.
fn usual(
    fields: &Fields<'_>,
    of: &Definition,
    variants: &[Variant],
) -> Option<(Vec<u64>, Vec<usize>)> {
    let first = if variants.is_empty() { Vec::new() } else { vec![0] };
    let Some(node) = fields.get("usual") else { return Some((Vec::new(), first)) };
    let fields = node.fields(&["scale", "variants"])?;
    let scales = fields.or("scale", Vec::new(), |node| match of.tables[0].rows {
        RowsFrom::Made(_) if node.value.as_array().is_some() => node.each(|item| item.count()),
        RowsFrom::Made(_) => Some(vec![node.count()?]),
        RowsFrom::File(_) => {
            node.mistake("a scale of rows from a file", "", "all of its rows are the usual scale")
        }
    });
    let names = || variants.iter().map(|variant| &*variant.name);
    let usual = fields.or("variants", first, |node| {
        node.each(|node| {
            let name = node.text()?;
            let place = names().position(|known| known == name);
            place.or_else(|| node.log.unknown(node.at.clone(), "variant", name, names()))
        })
    });
    let (scales, usual) = (scales?, usual?);
    if !variants.is_empty() && usual.is_empty() {
        return node.mistake("no variant is usual", "", "name at least one");
    }
    Some((scales, usual))
}

/// A file but for its variants.
fn body(file: &str, file_fields: &Fields<'_>, engines: &[&str], log: &Log) -> Option<Definition> {
    let name = name(file_fields, file);
    let about = file_fields.or("about", None, |node| node.text().map(Some));
    let entries = |key: &str, example: &str| {
        file_fields.need(key, example, |node| Some(node.open()?.entries()))
    };
    let table_entries = entries("table", "[table.readings]");
    let phase_entries = entries("phase", "[phase.ingest]").unwrap_or_default();
    let table_entries = table_entries?;
    checks::names(&table_entries, log);
    let table_entries = in_order(table_entries, &phase_entries);

    let names: Vec<_> = table_entries.iter().map(|entry| entry.name).collect();
    let drafts: Vec<_> = table_entries.iter().map(|entry| Draft::read(entry, &names)).collect();
    drafts.iter().for_each(|draft| checks::references(draft, &drafts, log));
    let phases = phases::read(&phase_entries, &drafts, engines);
    let tables = all(drafts.into_iter().map(Draft::table));
    let (tables, phases, name) = (tables?, phases?, name?);
    let about = about?.map_or_else(|| about::of_file(&tables), str::to_owned);
    let phases = phases.into_iter().map(|phase| phase.told(&tables)).collect();
    let (scales, variants, usual) = (Vec::new(), Vec::new(), Vec::new());
    Some(Definition { name, about, tables, phases, scales, variants, usual })
}

/// Files of a run have the name in theirs, whose names have 255 bytes at most.
const LONGEST_NAME: usize = 64;

/// The name: as written, with dashes for blanks, or else made of the file's.
fn name(fields: &Fields<'_>, file: &str) -> Option<String> {
    let Some(node) = fields.get("name") else {
        let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        let mut name = dashed(&stem);
        name.truncate(LONGEST_NAME);
        return Some(name);
    };
    let name = node.text()?.split_whitespace().collect::<Vec<_>>().join("-");
    if name.len() > LONGEST_NAME {
        let label = format!("{} characters", name.len());
        return node.mistake("a name that is too long", label, format!("{LONGEST_NAME} at most"));
    }
    if !name.is_empty() && name == dashed(&name) {
        return Some(name);
    }
    node.mistake(format!("'{name}' cannot be its name"), "", "letters, digits and dashes")
}

/// A name of letters, digits and dashes for a text.
pub fn dashed(text: &str) -> String {
    let letters = text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', " ");
    let name = letters.split_whitespace().collect::<Vec<_>>().join("-");
    if name.is_empty() { "workload".to_owned() } else { name }
}

/// The main table first: the one with the most phases, of equal ones the first in the file.
fn in_order<'a>(mut tables: Vec<Entry<'a>>, phases: &[Entry<'_>]) -> Vec<Entry<'a>> {
    let phases_of = |table: &Entry<'_>| {
        let of = |phase: &&Entry<'_>| {
            let named = phase.node.value.get("table").and_then(|name| name.get_ref().as_str());
            named == Some(table.name)
        };
        phases.iter().filter(of).count()
    };
    // Of equal ones `min_by_key` takes the first.
    let main = (0..tables.len()).min_by_key(|place| Reverse(phases_of(&tables[*place])));
    if let Some(main) = main {
        tables[..=main].rotate_right(1);
    }
    tables
}
