//! Configurations: `NAME=ENGINE:setting=value,…` on the command line, tables of a plan file, and the
//! engines' own defaults.

use std::collections::BTreeMap;
use std::path::{self, Path, PathBuf};

use embermark_engines::registry;
use embermark_model::{Configuration, Configurations};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::error::Failure;

/// What stands among the settings on the command line and is none: where the library is.
const LIBRARY: &str = "library";

/// What the names end in of the configurations of an engine's own defaults, and of the system's version.
const DEFAULTS: &str = "-defaults";
const SYSTEM: &str = "-system";

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
    let library = all.remove(LIBRARY).map(absolute).transpose()?;
    Ok((
        name.to_owned(),
        Configuration { engine: engine.to_owned(), settings: all, library, client: None },
    ))
}

/// Where a library is, from the folder of this process.
fn absolute(library: impl AsRef<Path>) -> Result<PathBuf, String> {
    let library = library.as_ref();
    path::absolute(library).map_err(|error| format!("library '{}': {error}", library.display()))
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
        #[serde(default)]
        settings: BTreeMap<String, serde_json::Value>,
        library: Option<PathBuf>,
    }
    let tables = BTreeMap::<String, Table>::deserialize(from)?;
    let configuration = |(name, Table { engine, settings, library }): (String, Table)| {
        let text = |(setting, value): (String, serde_json::Value)| match value {
            serde_json::Value::String(text) => Ok((setting, text)),
            value if value.is_number() || value.is_boolean() => Ok((setting, value.to_string())),
            _ => Err(D::Error::custom(format!("{setting} of configuration '{name}' is no value"))),
        };
        let settings = settings.into_iter().map(text).collect::<Result<_, _>>()?;
        let library = library.map(absolute).transpose().map_err(D::Error::custom)?;
        Ok((name, Configuration { engine, settings, library, client: None }))
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

/// The configurations that were given, and those of the `words` that name an engine's own defaults or the
/// system's version of it.
pub fn configurations(
    given: Vec<(String, Configuration)>,
    words: &[String],
) -> Result<Configurations, Failure> {
    distinct(&given)?;
    let mut all: Configurations = given.into_iter().collect();
    for word in words.iter().filter(|word| registry::find(word).is_err()) {
        if !all.contains_key(word)
            && let Some(own) = defaults(word).or_else(|| system(word))
        {
            all.insert(
                word.clone(),
                own.map_err(|why| Failure::usage(format!("'{word}': {why}")))?,
            );
        }
    }
    Ok(all)
}

/// The configuration of an engine's own defaults, if the word names one.
fn defaults(word: &str) -> Option<Result<Configuration, String>> {
    let engine = word.strip_suffix(DEFAULTS)?;
    let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let found = registry::find(engine).ok()?;
    let settings: BTreeMap<String, String> = found.settings().defaults().map(pair).collect();
    Some(match settings.is_empty() {
        true => Err(format!(
            "the defaults of {engine} are not known here; name its settings with \
             --configuration NAME={engine}:setting=value"
        )),
        false => {
            Ok(Configuration { engine: engine.to_owned(), settings, library: None, client: None })
        }
    })
}

/// The configuration of the system's version of an engine, if the word names one.
fn system(word: &str) -> Option<Result<Configuration, String>> {
    let engine = word.strip_suffix(SYSTEM)?;
    let found = registry::find(engine).ok()?;
    let own = |library| Configuration {
        engine: engine.to_owned(),
        settings: BTreeMap::new(),
        library: Some(library),
        client: None,
    };
    Some(match found.system() {
        Some(folder) => folder.map(own).map_err(|error| error.to_string()),
        None => Err(format!(
            "{engine} has no version of the system beside the one that it runs; name another with \
             --configuration NAME={engine}:library=FOLDER, where it takes one"
        )),
    })
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

#[cfg(test)]
mod tests;
