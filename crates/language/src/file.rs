//! Reads a workload file.

use std::cmp::Reverse;
use std::path::Path;

use embermark_model::MemoryLimit;
use embermark_model::table::RowsFrom;
use toml::de::DeTable;

use crate::about;
use crate::checks;
use crate::definition::{Definition, Usual};
use crate::draft::{Draft, DraftColumn};
use crate::mistakes::{Log, Mistakes};
use crate::node::{Entry, Fields, all};
use crate::phases;
use crate::variant;

/// Reads a workload file. `file` is its name in messages, and the source of its name if it has
/// none. `engines` are the ids that may follow `sql-`.
///
/// # Errors
/// All mistakes in the file, or only those of the syntax if the text is not TOML.
pub fn parse(file: &str, text: &str, engines: &[&str]) -> Result<Definition, Mistakes> {
    let log = Log::default();
    let definition = read(file, text, engines, &log);
    match definition {
        Some(definition) if log.is_empty() => Ok(definition),
        _ => Err(log.close(file, text)),
    }
}

/// Largest number of mistakes of the syntax that are shown: a missing bracket may cause many.
const MOST_OF_SYNTAX: usize = 5;

fn read(file: &str, text: &str, engines: &[&str], log: &Log) -> Option<Definition> {
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(MOST_OF_SYNTAX) {
        log.add(error.span().unwrap_or(0..0), "this is not valid TOML", error.message(), "");
    }
    if !errors.is_empty() {
        return None;
    }
    let file_fields = Fields::of_file(log, root.get_ref());
    file_fields.only(&["name", "about", "usual", "overview", "table", "phase", "variant"]);
    let Body { definition, made } = body(file, text, &file_fields, engines);
    let read_body = |fields: &Fields<'_>| body(file, text, fields, engines).definition;
    let variants = variant::read_all(&file_fields, root.get_ref(), definition.as_ref(), read_body);
    let is_apart_checked = match (&definition, &variants) {
        (Some(definition), Some(variants)) => {
            variant::check_apart(&file_fields, definition, variants)
        }
        _ => None,
    };
    let names = variant::names(&file_fields);
    let first =
        Usual { variants: if names.is_empty() { Vec::new() } else { vec![0] }, ..Usual::default() };
    let usual = usual(&file_fields, "usual", first.clone(), made, &names);
    let default = usual.clone().unwrap_or(first);
    let overview = self::usual(&file_fields, "overview", default, made, &names);
    is_apart_checked?;
    Some(Definition { variants: variants?, usual: usual?, overview: overview?, ..definition? })
}

/// Reads what runs by default. `default` is what runs otherwise. `made` is whether the rows of the
/// main table are generated, if that is known, and `variants` are the names of the variants.
fn usual(
    fields: &Fields<'_>,
    key: &str,
    default: Usual,
    made: Option<bool>,
    variants: &[&str],
) -> Option<Usual> {
    let Some(node) = fields.get(key) else { return Some(default) };
    let fields = node.fields(&["scale", "variants", "memory-limit"])?;
    let scales = fields.or("scale", default.scales, |node| match made {
        Some(false) => {
            node.mistake("a scale of rows from a file", "all of its rows are the usual scale")
        }
        _ if node.value.is_array() => node.each(|node| node.count()),
        _ => node.count().map(|rows| vec![rows]),
    });
    let memory_limit = fields.or("memory-limit", default.memory_limit, |node| {
        let text = node.text()?;
        match text.parse::<MemoryLimit>() {
            Ok(limit) => Some(Some(limit)),
            Err(error) => node.mistake(error.to_string(), "write for example \"256MiB\""),
        }
    });
    let chosen = fields.or("variants", default.variants, |node| {
        node.each(|node| node.place_in("variant", variants.iter().copied()))
    });
    let (scales, chosen, memory_limit) = (scales?, chosen?, memory_limit?);
    if !variants.is_empty() && chosen.is_empty() {
        return node.mistake("no variant is usual", "name at least one");
    }
    Some(Usual { scales, variants: chosen, memory_limit })
}

/// A file without its variants, as far as it could be read.
struct Body {
    /// The content, if nothing in it is wrong.
    definition: Option<Definition>,
    /// Whether the rows of the main table are generated, if that is known.
    made: Option<bool>,
}

/// Reads a file without its variants.
fn body(file: &str, text: &str, file_fields: &Fields<'_>, engines: &[&str]) -> Body {
    let name = name(file_fields, file);
    let about = file_fields.or("about", None, |node| node.text().map(Some));
    let entries = |key: &str, example: &str| {
        file_fields.need(key, example, |node| Some(node.open()?.entries())).unwrap_or_default()
    };
    let table_entries = entries("table", "[table.readings]");
    let phase_entries = entries("phase", "[phase.ingest]");
    checks::names(&table_entries);
    let table_entries = in_order(table_entries, &phase_entries);

    let names: Vec<_> = table_entries.iter().map(|entry| entry.name).collect();
    let drafts: Vec<_> = table_entries.iter().map(|entry| Draft::read(entry, &names)).collect();
    drafts.iter().for_each(|draft| checks::references(draft, &drafts));
    let made = drafts.first().and_then(|draft| draft.rows.as_ref());
    let made = made.map(|rows| !matches!(rows, RowsFrom::File(_)));
    let phases = phases::read(&phase_entries, &drafts, engines);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line =
        |column: &DraftColumn<'_>| 1 + ends.partition_point(|end| *end < column.at_name.at.start);
    let lines = |draft: &Draft<'_>| draft.columns.iter().map(&line).collect::<Vec<_>>();
    let lines: Vec<Vec<usize>> = drafts.iter().map(lines).collect();
    let tables = all(drafts.into_iter().map(Draft::table));
    let definition = || {
        let (tables, phases, name) = (tables?, phases?, name?);
        let about = about?.map_or_else(|| about::describe_tables(&tables), str::to_owned);
        let (variants, usual, overview) = (Vec::new(), Usual::default(), Usual::default());
        Some(Definition { name, about, tables, lines, phases, variants, usual, overview })
    };
    Body { definition: definition().filter(|_| file_fields.log.is_empty()), made }
}

/// Files of a run contain the name in theirs, which have at most 255 bytes.
const LONGEST_NAME: usize = 64;

/// Returns the name: as written, with dashes for blanks, or derived from the file's.
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
        return node.labelled("a name that is too long", label, format!("{LONGEST_NAME} at most"));
    }
    if !name.is_empty() && name == dashed(&name) {
        return Some(name);
    }
    node.mistake(format!("'{name}' cannot be its name"), "letters, digits and dashes")
}

/// Makes a name of letters, digits and dashes from a text.
pub fn dashed(text: &str) -> String {
    let letters = text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', " ");
    let name = letters.split_whitespace().collect::<Vec<_>>().join("-");
    if name.is_empty() { "workload".to_owned() } else { name }
}

/// Moves the main table to the front: the one with the most phases, and of equal ones the first in
/// the file.
fn in_order<'a>(mut tables: Vec<Entry<'a>>, phases: &[Entry<'_>]) -> Vec<Entry<'a>> {
    let phases_of = |table: &Entry<'_>| {
        let of = |phase: &&Entry<'_>| {
            let named = phase.node.value.get("table").and_then(|name| name.get_ref().as_str());
            named == Some(table.name)
        };
        phases.iter().filter(of).count()
    };
    // `min_by_key` takes the first of equal ones.
    let main = (0..tables.len()).min_by_key(|place| Reverse(phases_of(&tables[*place])));
    if let Some(main) = main {
        tables[..=main].rotate_right(1);
    }
    tables
}
