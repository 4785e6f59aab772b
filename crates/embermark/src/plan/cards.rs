//! Flash cards that are modelled: `--card`.

use std::path::Path;

use embermark_flash::{built_in, parse};
use embermark_model::Card;

use crate::error::Failure;

/// Returns the cards with these names or in these files.
pub fn cards(given: &[String]) -> Result<Vec<Card>, Failure> {
    let mut cards: Vec<Card> = Vec::new();
    for given in given {
        let card = if is_file(given) { of_file(Path::new(given))? } else { named(given)? };
        match cards.iter().find(|known| known.name == card.name) {
            Some(known) if *known != card => {
                return Err(Failure::usage(format!(
                    "--card: two cards are called '{}': give one of the files another name",
                    card.name
                )));
            }
            Some(_) => {}
            None => cards.push(card),
        }
    }
    Ok(cards)
}

/// Whether a file is named, rather than something built in.
pub(super) fn is_file(given: &str) -> bool {
    let path = Path::new(given);
    given.contains('/') || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"))
}

fn named(name: &str) -> Result<Card, Failure> {
    built_in(name).map_err(|error| {
        Failure::usage(format!("--card: {error}; or a file of your own, FILE.toml (docs/flash.md)"))
    })
}

/// Reads a card from a file, whose name it gets.
fn of_file(path: &Path) -> Result<Card, Failure> {
    let refused = |why: String| Failure::usage(format!("--card {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    parse(&name.unwrap_or_default(), &text).map_err(|error| refused(error.to_string()))
}
