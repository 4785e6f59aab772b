//! Reads a user's card from TOML.

use bytesize::ByteSize;
use embermark_model::card::{Card, Cleaning, Mapping, Spread};
use embermark_model::choice::{self, UnknownName};
use toml::{Table, Value};

use crate::built_in::built_in;

/// An error in the description of a card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// Invalid TOML.
    #[error("it is not TOML: {0}")]
    Toml(String),
    /// An unknown name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A missing key.
    #[error("'{0}' is missing: give it, or with 'like' a built-in card that has the rest")]
    Missing(&'static str),
    /// An invalid value.
    #[error("'{key}' is {given}: {wanted}")]
    Value {
        /// The key.
        key: &'static str,
        /// The value given.
        given: String,
        /// What is allowed.
        wanted: String,
    },
}

const KEYS: [&str; 12] = [
    "like",
    "kind",
    "cleaning",
    "map",
    "open-units",
    "capacity",
    "page",
    "erase-block",
    "spare-percent",
    "cycles",
    "cache",
    "filled-percent",
];

/// The largest table that a model keeps: units of a device and of the spare space.
const MOST_PAGES: u64 = 1 << 28;

/// Reads the card with this name from TOML.
///
/// # Errors
/// If the TOML is invalid, a key or value is unknown, or a key is missing.
pub fn parse(name: &str, text: &str) -> Result<Card, CardError> {
    parse_like(name, text, None)
}

/// Reads the card `name` from TOML. Values that neither the text nor its own `like` gives are those
/// of `like`.
///
/// # Errors
/// The errors of [`parse`].
pub fn parse_like(name: &str, text: &str, like: Option<&Card>) -> Result<Card, CardError> {
    let invalid = |error: toml::de::Error| CardError::Toml(error.message().to_owned());
    let table: Table = text.parse().map_err(invalid)?;
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(choice::unknown("key", unknown, KEYS).into());
    }
    let read = CardTable(&table);
    let own = read.word("like")?.map(built_in).transpose()?;
    let like = own.as_ref().or(like);
    let page_bytes = read.size("page", like.map(|card| card.page_bytes))?;
    let card = Card {
        name: name.to_owned(),
        mapping: read.mapping(like, page_bytes)?,
        capacity_bytes: read.size("capacity", like.map(|card| card.capacity_bytes))?,
        page_bytes,
        erase_block_bytes: read.size("erase-block", like.map(|card| card.erase_block_bytes))?,
        spare_permille: read.spread("spare-percent", 10.0, like.map(|card| card.spare_permille))?,
        cycles: read.spread("cycles", 1.0, like.map(|card| card.cycles))?,
        cache_bytes: read.size("cache", Some(like.map_or(0, |card| card.cache_bytes)))?,
        filled_permille: {
            let usual = Spread::exact(like.map_or(1_000, |card| card.filled_permille));
            read.spread("filled-percent", 10.0, Some(usual))?.typical
        },
    };
    check_sizes(&card)?;
    Ok(card)
}

/// Checks the relations between sizes.
fn check_sizes(card: &Card) -> Result<(), CardError> {
    let Card { capacity_bytes, page_bytes, erase_block_bytes, .. } = *card;
    let refused = |key, given: String, wanted: &str| {
        Err(CardError::Value { key, given, wanted: wanted.to_owned() })
    };
    let bytes = |given: u64| format!("{given} bytes");
    if page_bytes < 512 || !page_bytes.is_power_of_two() {
        return refused("page", bytes(page_bytes), "give a power of two from 512 on");
    }
    if erase_block_bytes < page_bytes || !erase_block_bytes.is_multiple_of(page_bytes) {
        return refused("erase-block", bytes(erase_block_bytes), "give a whole number of pages");
    }
    if capacity_bytes < 16 * erase_block_bytes || capacity_bytes / page_bytes > MOST_PAGES {
        let wanted = "give 16 erase blocks or more, and 2^28 pages or less";
        return refused("capacity", bytes(capacity_bytes), wanted);
    }
    if let Mapping::PageMapped { map_bytes, .. } = card.mapping
        && (map_bytes < 512 || !page_bytes.is_multiple_of(map_bytes))
    {
        let wanted = "give a part of a page, from 512 bytes on, or the page";
        return refused("map", bytes(map_bytes), wanted);
    }
    if card.cycles.low == 0 {
        return refused("cycles", "0".to_owned(), "give 1 or more");
    }
    if let Mapping::LogBlocks { open_units } = card.mapping
        && (open_units.low == 0 || open_units.high > 1_000)
    {
        return refused("open-units", open_units.high.to_string(), "give 1 to 1000");
    }
    if card.filled_permille > 1_000 {
        let given = (card.filled_permille / 10).to_string();
        return refused("filled-percent", given, "give 0 to 100");
    }
    Ok(())
}

/// A table whose values are read by key.
struct CardTable<'a>(&'a Table);

impl CardTable<'_> {
    fn wrong<T>(key: &'static str, given: &Value, wanted: &str) -> Result<T, CardError> {
        Err(CardError::Value { key, given: given.to_string(), wanted: wanted.to_owned() })
    }

    fn word(&self, key: &'static str) -> Result<Option<&str>, CardError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Value::String(word)) => Ok(Some(word)),
            Some(other) => Self::wrong(key, other, "write a name in quotes"),
        }
    }

    fn size(&self, key: &'static str, usual: Option<u64>) -> Result<u64, CardError> {
        let Some(given) = self.0.get(key) else { return usual.ok_or(CardError::Missing(key)) };
        let wanted = "write bytes, or a size such as \"16 KiB\" or \"32 GB\"";
        let bytes = match given {
            Value::Integer(bytes) => u64::try_from(*bytes).ok(),
            Value::String(text) => text.parse().ok().map(|ByteSize(bytes)| bytes),
            _ => None,
        };
        bytes.map_or_else(|| Self::wrong(key, given, wanted), Ok)
    }

    /// Reads one number, or three: for the card that wears out soonest, the likely one, and the one
    /// that lasts longest. Each is multiplied by `times`.
    fn spread(
        &self,
        key: &'static str,
        times: f64,
        usual: Option<Spread>,
    ) -> Result<Spread, CardError> {
        let Some(given) = self.0.get(key) else { return usual.ok_or(CardError::Missing(key)) };
        let wanted = "give a number, or three as [low, typical, high]";
        let number = |value: &Value| {
            let number = value.as_float().or(value.as_integer().map(|number| number as f64))?;
            let scaled = (number * times).round();
            (0.0..=f64::from(u32::MAX)).contains(&scaled).then_some(scaled as u32)
        };
        let numbers: Option<Vec<u32>> = match given {
            Value::Array(all) => all.iter().map(number).collect(),
            one => number(one).map(|one| vec![one; 3]),
        };
        match numbers.as_deref() {
            Some(&[low, typical, high]) if low <= typical && typical <= high => {
                Ok(Spread { low, typical, high })
            }
            _ => Self::wrong(key, given, wanted),
        }
    }

    fn mapping(&self, like: Option<&Card>, page_bytes: u64) -> Result<Mapping, CardError> {
        const KINDS: [&str; 2] = ["page-mapped", "log-blocks"];
        let usual = like.map(|card| match card.mapping {
            Mapping::PageMapped { .. } => KINDS[0],
            Mapping::LogBlocks { .. } => KINDS[1],
        });
        let kind = self.word("kind")?.or(usual).ok_or(CardError::Missing("kind"))?;
        let foreign = |key: &'static str| match self.0.get(key) {
            Some(given) => Self::wrong(key, given, &format!("a card of kind {kind} has none")),
            None => Ok(()),
        };
        match kind {
            "page-mapped" => {
                foreign("open-units")?;
                let (map, cleaning) = match like.map(|card| card.mapping) {
                    Some(Mapping::PageMapped { map_bytes, cleaning }) => (map_bytes, cleaning),
                    _ => (page_bytes, Cleaning::Greedy),
                };
                let cleaning = match self.word("cleaning")? {
                    None => cleaning,
                    Some("fifo") => Cleaning::Fifo,
                    Some("greedy") => Cleaning::Greedy,
                    Some(other) => {
                        return Err(choice::unknown("cleaning", other, ["fifo", "greedy"]).into());
                    }
                };
                let map_bytes = self.size("map", Some(map.min(page_bytes)))?;
                Ok(Mapping::PageMapped { map_bytes, cleaning })
            }
            "log-blocks" => {
                foreign("cleaning")?;
                foreign("map")?;
                let usual = match like.map(|card| card.mapping) {
                    Some(Mapping::LogBlocks { open_units }) => Some(open_units),
                    _ => None,
                };
                Ok(Mapping::LogBlocks { open_units: self.spread("open-units", 1.0, usual)? })
            }
            other => Err(choice::unknown("kind", other, KINDS).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CARDS, End, model_of};

    const OWN: &str = r#"
kind = "log-blocks"
open-units = [1, 3, 6]
capacity = "16 GB"
page = 8192
erase-block = "2 MiB"
spare-percent = 7.4
cycles = [500, 1000, 2000]
"#;

    #[test]
    fn a_card_of_ones_own_is_what_its_file_says() {
        let card = parse("own", OWN).unwrap();
        let open_units = Spread { low: 1, typical: 3, high: 6 };
        assert_eq!(card.mapping, Mapping::LogBlocks { open_units });
        assert_eq!((card.name.as_str(), card.capacity_bytes), ("own", 16_000_000_000));
        assert_eq!((card.page_bytes, card.erase_block_bytes), (8192, 2 << 20));
        assert_eq!((card.spare_permille, card.filled_permille), (Spread::exact(74), 1_000));
    }

    #[test]
    fn a_card_like_another_one_has_the_rest_from_there() {
        let card =
            parse("own", "like = \"emmc-8gb\"\ncapacity = \"16 GB\"\ncleaning = \"fifo\"").unwrap();
        let like = built_in("emmc-8gb").unwrap();
        let Mapping::PageMapped { map_bytes, cleaning } = card.mapping else { panic!("{card:?}") };
        assert_eq!((map_bytes, cleaning), (4096, Cleaning::Fifo));
        assert_eq!((card.cycles, card.capacity_bytes), (like.cycles, 16_000_000_000));
        let other =
            parse("own", "like = \"emmc-8gb\"\nkind = \"log-blocks\"\nopen-units = 2").unwrap();
        assert_eq!(other.mapping, Mapping::LogBlocks { open_units: Spread::exact(2) });
    }

    #[test]
    fn what_is_wrong_is_said_with_the_nearest_name() {
        let says = |text: &str| parse("own", text).unwrap_err().to_string();
        for (text, expected) in [
            ("erase-blok = 4", "unknown key 'erase-blok', did you mean 'erase-block'?"),
            ("like = \"sd-32g\"", "unknown card 'sd-32g', did you mean 'sd-32gb'?"),
            ("page = \"16 KiB\"\nkind = \"page-maped\"", "did you mean 'page-mapped'?"),
            ("like = \"emmc-8gb\"\ncleaning = \"greed\"", "did you mean 'greedy'?"),
            (
                "like = \"emmc-8gb\"\nopen-units = 2",
                "'open-units' is 2: a card of kind page-mapped has none",
            ),
            ("like = \"sd-32gb\"\nmap = 4096", "a card of kind log-blocks has none"),
            ("kind = \"log-blocks\"", "'page' is missing"),
            ("like = \"sd-32gb\"\npage = \"large\"", "write bytes, or a size"),
            ("like = \"sd-32gb\"\npage = 5000", "a power of two"),
            ("like = \"sd-32gb\"\nerase-block = 20000", "a whole number of pages"),
            ("like = \"sd-32gb\"\ncapacity = \"1 MiB\"", "16 erase blocks or more"),
            ("like = \"sd-32gb\"\ncycles = [3, 2, 1]", "as [low, typical, high]"),
            ("like = \"sd-32gb\"\ncycles = 0", "give 1 or more"),
            ("like = \"sd-32gb\"\nopen-units = 0", "give 1 to 1000"),
            ("like = \"sd-32gb\"\nfilled-percent = 120", "give 0 to 100"),
            ("like = \"sd-32gb\"\nspare-percent = \"some\"", "give a number"),
            ("like = 3", "write a name in quotes"),
            ("like", "it is not TOML"),
        ] {
            assert!(says(text).contains(expected), "{text}: {}", says(text));
        }
    }

    #[test]
    fn every_built_in_card_is_one_that_a_file_could_say_and_holds_a_device() {
        for (name, ..) in CARDS {
            let card = built_in(name).unwrap();
            check_sizes(&card).unwrap();
            assert_eq!(parse(name, &format!("like = \"{name}\"")).unwrap(), card);
            for end in End::ALL {
                model_of(&card, end, 1 << 30).unwrap();
            }
        }
    }
}
