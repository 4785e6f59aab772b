//! Models that options select: built-in ones by their names, or those that files describe.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use embermark_model::{Card, NetworkLink, Storage};
use {embermark_flash as flash, embermark_network as network, embermark_storage as storage};

use super::unique;
use crate::error::Failure;

/// Returns the flash cards of `--card`, each once.
pub fn cards(given: &[String]) -> Result<Vec<Card>, Failure> {
    let option = ("--card", "docs/flash.md");
    let cards = given.iter().map(|given| model(option, given, flash::built_in, flash::parse));
    let cards = unique(cards)?;
    check_names("--card: two cards", cards.iter().map(|card| &card.name))?;
    Ok(cards)
}

/// Returns the imitated storages of `--storage`, each once. `none` is this machine's own disk.
pub fn storages(given: &[String]) -> Result<Vec<Option<Storage>>, Failure> {
    let option = ("--storage", "docs/storage.md");
    let storages = unique(given.iter().map(|given| match given.as_str() {
        "none" => Ok(None),
        given => model(option, given, storage::built_in, storage::parse).map(Some),
    }))?;
    check_names("--storage: two storages", storages.iter().flatten().map(|storage| storage.name))?;
    Ok(storages)
}

/// Returns the imitated network link of `--network`. Returns `None` for `none`.
pub fn link(given: &str) -> Result<Option<NetworkLink>, Failure> {
    match given {
        "none" => Ok(None),
        given => {
            let option = ("--network", "docs/network.md");
            model(option, given, network::built_in, network::parse).map(Some)
        }
    }
}

/// Refuses different models of one name.
fn check_names<N: Display + PartialEq>(
    of: &str,
    names: impl Iterator<Item = N>,
) -> Result<(), Failure> {
    let mut known = Vec::new();
    for name in names {
        if known.contains(&name) {
            return Err(usage!("{of} are called '{name}': give one of the files another name"));
        }
        known.push(name);
    }
    Ok(())
}

/// Returns the built-in model with a name, or reads one from a file, whose name becomes that of the
/// model. `option` and `page` are for error messages: the option, and its page of the manual.
///
/// # Errors
/// If the name is unknown or the file cannot be read.
pub fn model<T, U: Display, E: Display>(
    (option, page): (&str, &str),
    given: &str,
    built_in: impl Fn(&str) -> Result<T, U>,
    parse: impl Fn(&str, &str) -> Result<T, E>,
) -> Result<T, Failure> {
    let path = Path::new(given);
    let is_toml = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    if !given.contains('/') && !is_toml {
        return built_in(given).map_err(|error| {
            usage!("{option}: {error}; or a file of your own, FILE.toml ({page})")
        });
    }
    let refused = |why: String| usage!("{option} {}: {why}", path.display());
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    parse(&name, &text).map_err(|error| refused(error.to_string()))
}
