//! Configurations: `NAME=ENGINE:setting=value,…` on the command line, tables of a plan file, and the
//! engines' own defaults.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use embermark_engines::{Availability, OWN_DURABILITY, OpenOptions, Tier, registry};
use embermark_model::{Configuration, Configurations, Durability};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::error::Failure;

/// Cache memory of a database that is only opened, in bytes.
const MEMORY: u64 = 16 << 20;

/// What the name of the configuration of an engine's own defaults ends in.
const DEFAULTS: &str = "-defaults";

/// Reads `NAME=ENGINE:setting=value,…`. A comma within brackets belongs to a value.
pub fn parsed(text: &str) -> Result<(String, Configuration), String> {
    let wrong = || format!("'{text}' is no NAME=ENGINE:setting=value,…");
    let (name, of) = text.split_once('=').ok_or_else(wrong)?;
    let (engine, settings) = of.split_once(':').ok_or_else(wrong)?;
    let mut all = BTreeMap::new();
    for setting in split(settings) {
        let (name, value) = setting.split_once('=').ok_or_else(wrong)?;
        if all.insert(name.trim().to_owned(), value.trim().to_owned()).is_some() {
            return Err(format!("'{text}' has {} twice", name.trim()));
        }
    }
    Ok((name.to_owned(), Configuration { engine: engine.to_owned(), settings: all }))
}

fn split(settings: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    settings.split(move |c| {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        c == ',' && depth == 0
    })
}

/// Reads the tables of a plan file, whose values may be texts, numbers and booleans.
pub fn of_file<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, Configuration)>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        engine: String,
        settings: BTreeMap<String, serde_json::Value>,
    }
    let tables = BTreeMap::<String, Table>::deserialize(from)?;
    let configuration = |(name, Table { engine, settings }): (String, Table)| {
        let text = |(setting, value): (String, serde_json::Value)| match value {
            serde_json::Value::String(text) => Ok((setting, text)),
            value if value.is_number() || value.is_boolean() => Ok((setting, value.to_string())),
            _ => Err(D::Error::custom(format!("{setting} of configuration '{name}' is no value"))),
        };
        let settings = settings.into_iter().map(text).collect::<Result<_, _>>()?;
        Ok((name, Configuration { engine, settings }))
    };
    tables.into_iter().map(configuration).collect()
}

/// Checks that no name was given twice.
pub fn distinct(given: &[(String, Configuration)]) -> Result<(), Failure> {
    let mut names = given.iter().enumerate();
    let twice = names.find(|(at, (name, _))| given[..*at].iter().any(|(other, _)| other == name));
    twice.map_or(Ok(()), |(_, (name, _))| {
        let says = format!("--configuration '{name}' is given twice: give each another name");
        Err(Failure::usage(says))
    })
}

/// The configurations that were given, and those of the `words` that name an engine's own defaults.
pub fn configurations(
    given: Vec<(String, Configuration)>,
    words: &[String],
) -> Result<Configurations, Failure> {
    distinct(&given)?;
    let mut all: Configurations = given.into_iter().collect();
    for word in words {
        let Some(engine) = word.strip_suffix(DEFAULTS) else { continue };
        let Ok(found) = registry::find(engine) else { continue };
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let settings: BTreeMap<String, String> = found.settings().defaults().map(pair).collect();
        if settings.is_empty() {
            return Err(Failure::usage(format!(
                "'{word}': the defaults of {engine} are not known here; name its settings with \
                 --configuration NAME={engine}:setting=value"
            )));
        }
        let configuration = || Configuration { engine: engine.to_owned(), settings };
        all.entry(word.clone()).or_insert_with(configuration);
    }
    Ok(all)
}

/// The columns that words of `--engines` stand for, each once, and the configurations that they leave
/// out.
pub fn columns(words: &[String], configurations: &Configurations) -> Result<Vec<String>, Failure> {
    let mut columns: Vec<String> = Vec::new();
    let mut add = |column: &str| {
        if columns.iter().all(|known| known != column) {
            columns.push(column.to_owned());
        }
    };
    for word in words {
        if configurations.contains_key(word) {
            add(word);
            continue;
        }
        let chosen = registry::select(word).map_err(|mut unknown| {
            unknown.valid.extend(configurations.keys().cloned());
            Failure::usage(unknown)
        })?;
        chosen.iter().for_each(|engine| add(engine.info().id));
    }
    configurations.keys().for_each(|name| add(name));
    Ok(columns)
}

/// Opens an empty database of each configuration in each tier, in a folder of its own in `dir`, where its
/// engine is here: what the engine refuses is known before anything is measured. Where what it gives back
/// is not the tier's, that is said on standard error.
pub fn try_out(all: &Configurations, tiers: &[Durability], dir: &Path) -> Result<(), Failure> {
    for (name, configuration) in all {
        let engine = registry::find(&configuration.engine).map_err(Failure::usage)?;
        if matches!(engine.availability(), Availability::Missing { .. }) {
            continue;
        }
        for tier in tiers {
            if matches!(engine.tier(*tier), Tier::Unsupported { .. }) {
                continue;
            }
            // A private server may run as another user.
            let folder = tempfile::Builder::new()
                .prefix("embermark-try-")
                .permissions(Permissions::from_mode(0o755))
                .tempdir_in(dir);
            let folder = folder.map_err(Failure::unwritable(dir))?;
            let settings = configuration.pairs();
            let options = OpenOptions::new(folder.path(), *tier, MEMORY);
            let options = OpenOptions { settings, ..options };
            let opened = engine.open(&options).and_then(|opened| {
                opened.store.close()?;
                Ok(opened.settings)
            });
            let settings = opened.map_err(|error| {
                Failure::usage(format!("configuration '{name}' in the tier '{tier}': {error}"))
            })?;
            if let Some((_, own)) = settings.iter().find(|(known, _)| known == OWN_DURABILITY) {
                eprintln!("configuration {name}: {own}: its durability is as its author says");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
