//! Flash cards that are modelled: `--card`.

use embermark_flash::{built_in, parse};
use embermark_model::Card;

use super::models::model;
use crate::error::Failure;

/// Returns the cards with these names or in these files.
pub fn cards(given: &[String]) -> Result<Vec<Card>, Failure> {
    let mut cards: Vec<Card> = Vec::new();
    for given in given {
        let card = model(("--card", "docs/flash.md"), given, built_in, parse)?;
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
