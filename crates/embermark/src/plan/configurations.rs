//! Configurations: `NAME=ENGINE:setting=value,…` on the command line, tables of a plan file, the
//! engines' own defaults, and engines used by a client.

use std::collections::{BTreeMap, HashSet};
use std::path::{self, Path, PathBuf};

use embermark_engines::{Kind, registry};
use embermark_model::{Client, Configuration, Configurations};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::clients::client;
use super::unique;
use crate::error::Failure;

/// Words among the settings of the command line that are not settings: the folder of the library,
/// and the client that does the work.
const LIBRARY: &str = "library";
const CLIENT: &str = "client";

/// Suffixes of configurations with an engine's own defaults, and with the system's version.
const DEFAULTS: &str = "-defaults";
const SYSTEM: &str = "-system";

/// Parses `NAME=ENGINE:setting=value,…`. A comma within brackets belongs to a value.
pub fn parse_configuration(text: &str) -> Result<(String, Configuration), String> {
    let wrong = || format!("'{text}' is not of the form NAME=ENGINE:setting=value,…");
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
    let client = all.remove(CLIENT).map(|text| client(&text)).transpose()?.flatten();
    Ok((
        name.to_owned(),
        Configuration { settings: all, library, client, ..Configuration::new(engine) },
    ))
}

/// Returns the absolute path of a library.
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
pub fn deserialize_tables<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, Configuration)>, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        engine: String,
        #[serde(default)]
        settings: BTreeMap<String, serde_json::Value>,
        library: Option<PathBuf>,
        client: Option<String>,
    }
    let tables = BTreeMap::<String, Table>::deserialize(from)?;
    let configuration =
        |(name, Table { engine, settings, library, client: by }): (String, Table)| {
            let text = |(setting, value): (String, serde_json::Value)| match value {
                serde_json::Value::String(text) => Ok((setting, text)),
                value if value.is_number() || value.is_boolean() => {
                    Ok((setting, value.to_string()))
                }
                _ => Err(D::Error::custom(format!(
                    "{setting} of configuration '{name}' is not a value"
                ))),
            };
            let settings = settings.into_iter().map(text).collect::<Result<_, _>>()?;
            let library = library.map(absolute).transpose().map_err(D::Error::custom)?;
            let client =
                by.map(|text| client(&text)).transpose().map_err(D::Error::custom)?.flatten();
            Ok((name, Configuration { engine, settings, library, client }))
        };
    tables.into_iter().map(configuration).collect()
}

/// Checks that every name is given once.
pub fn distinct(given: &[(String, Configuration)]) -> Result<(), Failure> {
    let mut known = HashSet::new();
    for (name, _) in given {
        if !known.insert(name) {
            return Err(usage!("--configuration '{name}' is given twice: give each another name"));
        }
    }
    Ok(())
}

/// Returns the given configurations, and those of `words` that name an engine's own defaults, the
/// system's version of it, or a column with a client.
pub fn configurations(
    given: Vec<(String, Configuration)>,
    words: &[String],
) -> Result<Configurations, Failure> {
    distinct(&given)?;
    let mut all: Configurations = given.into_iter().collect();
    for word in words.iter().filter(|word| registry::find(word).is_err()) {
        if !all.contains_key(word)
            && let Some(own) = built_in(word).or_else(|| used_by(word, &all))
        {
            all.insert(word.clone(), own.map_err(|why| usage!("'{word}': {why}"))?);
        }
    }
    Ok(all)
}

/// Returns the configuration of an engine's own defaults or of the system's version of it, if the
/// word names one.
fn built_in(word: &str) -> Option<Result<Configuration, String>> {
    defaults(word).or_else(|| system(word))
}

/// Returns the configuration of a column with a client, like `sqlite-python`, if the word names
/// one.
fn used_by(word: &str, given: &Configurations) -> Option<Result<Configuration, String>> {
    let (column, language) = Client::LANGUAGES
        .iter()
        .find_map(|language| Some((word.strip_suffix(language)?.strip_suffix('-')?, *language)))?;
    let own = match (given.get(column), registry::find(column)) {
        (Some(own), _) => Ok(own.clone()),
        (None, Ok(_)) => Ok(Configuration::new(column)),
        (None, Err(_)) => built_in(column)?,
    };
    Some(own.and_then(|own| match &own.client {
        Some(other) => {
            Err(format!("'{column}' already has the client {other}: leave out the other client"))
        }
        None => Ok(Configuration { client: client(language)?, ..own }),
    }))
}

/// Returns the configuration of an engine's own defaults, if the word names one.
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
        false => Ok(Configuration { settings, ..Configuration::new(engine) }),
    })
}

/// Returns the configuration of the system's version of an engine, if the word names one.
fn system(word: &str) -> Option<Result<Configuration, String>> {
    let engine = word.strip_suffix(SYSTEM)?;
    let found = registry::find(engine).ok()?;
    let own = |library| Configuration { library: Some(library), ..Configuration::new(engine) };
    Some(match found.system() {
        Some(folder) => folder.map(own).map_err(|error| error.to_string()),
        None => Err(format!(
            "{engine} has no system version other than the one that it runs; name another with \
             --configuration NAME={engine}:library=FOLDER, where it takes one"
        )),
    })
}

/// Returns the [`columns`] without reference engines that no word names: they are not candidates.
pub fn candidates(
    words: &[String],
    configurations: &Configurations,
) -> Result<Vec<String>, Failure> {
    let is_reference =
        |id: &str| registry::find(id).is_ok_and(|engine| engine.info().kind == Kind::Reference);
    let mut columns = columns(words, configurations)?;
    columns.retain(|id| words.contains(id) || !is_reference(id));
    Ok(columns)
}

/// Returns the columns of the words of `--engines`, each once, and of the configurations that they
/// do not name.
pub fn columns(words: &[String], configurations: &Configurations) -> Result<Vec<String>, Failure> {
    let mut columns: Vec<String> = Vec::new();
    for word in words {
        if configurations.contains_key(word) {
            columns.push(word.clone());
            continue;
        }
        let chosen = registry::select(word).map_err(|mut unknown| {
            unknown.valid.extend(configurations.keys().cloned());
            Failure::usage(unknown)
        })?;
        columns.extend(chosen.iter().map(|engine| engine.info().id.to_owned()));
    }
    columns.extend(configurations.keys().cloned());
    unique(columns.into_iter().map(Ok))
}

#[cfg(test)]
mod tests;
