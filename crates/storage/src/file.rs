//! Reads the description of a storage from TOML.

use bytesize::ByteSize;
use embermark_flash::CardError;
use embermark_model::card::Spread;
use embermark_model::choice::{self, UnknownName};
use embermark_model::storage::{
    Flash, InvalidStorageName, Platters, SECTOR, Storage, StorageName, Transfer,
};
use toml::{Table, Value};

/// Name and TOML of every built-in storage. Each is a file in `media`, which names the source of each
/// figure.
const STORAGES: [(&str, &str); 7] = [
    ("sd-class10", include_str!("../media/sd-class10.toml")),
    ("sd-a1", include_str!("../media/sd-a1.toml")),
    ("sd-a2", include_str!("../media/sd-a2.toml")),
    ("emmc", include_str!("../media/emmc.toml")),
    ("usb-stick", include_str!("../media/usb-stick.toml")),
    ("hdd-7200", include_str!("../media/hdd-7200.toml")),
    ("nvme", include_str!("../media/nvme.toml")),
];

/// Names of the built-in storages.
pub fn names() -> impl Iterator<Item = &'static str> {
    STORAGES.iter().map(|(name, _)| *name)
}

/// Returns the TOML of the built-in storage `name`.
///
/// # Errors
/// If the name is unknown. The error lists the valid names and suggests the nearest.
pub fn built_in_toml(name: &str) -> Result<&'static str, UnknownName> {
    let found = STORAGES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| choice::unknown("storage", name, names()))
}

type Result<T, E = StorageError> = std::result::Result<T, E>;

/// An error in the description of a storage.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    /// Invalid TOML.
    #[error("invalid TOML: {0}")]
    Toml(String),
    /// Invalid name. The name of a storage is the stem of its file's name.
    #[error(transparent)]
    Name(#[from] InvalidStorageName),
    /// An unknown key, or an unknown storage in `like`.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A missing key.
    #[error(
        "'{0}' is missing: give it, or name a built-in storage for all missing keys with 'like'"
    )]
    Missing(String),
    /// An invalid value.
    #[error("'{key}' is {given}: {wanted}")]
    Value {
        /// The key, with its table: `read.random-us`.
        key: String,
        /// The value given.
        given: String,
        /// What is allowed.
        wanted: String,
    },
    /// An error in the table `flash`.
    #[error("'flash': {0}")]
    Flash(#[from] CardError),
}

/// Maximum of a time, in µs.
pub(crate) const MOST_US: f64 = 10_000_000.0;

/// Maximum of a rate, in MB/s.
pub(crate) const MOST_MB_PER_S: f64 = 20_000.0;

/// Maximum queue depth. Each request of the queue has a thread that serves it.
pub(crate) const DEEPEST: u32 = 32;

/// Maximum cache size in bytes. The model remembers each write in the cache.
pub(crate) const LARGEST_CACHE: u64 = 1 << 30;

const KEYS: [&str; 11] = [
    "like",
    "about",
    "read",
    "write",
    "flush-us",
    "cache",
    "cached-write-us",
    "queue-depth",
    "sector",
    "flash",
    "disk",
];

/// Reads the storage `name` from TOML.
///
/// # Errors
/// Returns an error for invalid TOML, an unknown or missing key, or a value out of range.
pub fn parse(name: &str, text: &str) -> Result<Storage> {
    let name = StorageName::new(name)?;
    let table: Table = text
        .parse()
        .map_err(|error: toml::de::Error| StorageError::Toml(error.message().to_owned()))?;
    let read = TableReader::new(&table, "", &KEYS)?;
    let like = read.word("like")?.map(built_in).transpose()?;
    let like = like.as_ref();
    let cache_bytes = read.size("cache", Some(like.map_or(0, |like| like.cache_bytes)))?;
    if cache_bytes > LARGEST_CACHE {
        return read.invalid("cache", "give at most 1 GiB");
    }
    let cached = like.filter(|like| like.cache_bytes > 0).map(|like| like.cached_write_us);
    let cached = if cache_bytes > 0 { cached } else { Some(Spread::exact(0)) };
    let depth = like.map(|like| Spread::exact(like.queue_depth));
    let queue = read.spread("queue-depth", 1.0, DEEPEST.into(), depth)?;
    if queue.typical == 0 {
        return read.invalid("queue-depth", "give 1 or more");
    }
    let sector = like.map_or(SECTOR, |like| like.sector_bytes);
    let sector_bytes = match read.size("sector", Some(sector.into()))? {
        bytes @ (512 | 1_024 | 2_048 | 4_096) => bytes as u32,
        _ => return read.invalid("sector", "give 512, 1024, 2048 or 4096 bytes"),
    };
    Ok(Storage {
        name,
        about: match read.word("about")? {
            Some(about) => about.to_owned(),
            None => like.map(|like| format!("like {}", like.name)).unwrap_or_default(),
        },
        read: read.transfer("read", like.map(|like| like.read))?,
        write: read.transfer("write", like.map(|like| like.write))?,
        flush_us: read.time("flush-us", like.map(|like| like.flush_us))?,
        cache_bytes,
        cached_write_us: read.time("cached-write-us", cached)?,
        queue_depth: queue.typical,
        sector_bytes,
        flash: read.flash(name, like.and_then(|like| like.flash.as_ref()))?,
        disk: read.disk(like.and_then(|like| like.disk))?,
    })
}

/// Returns the built-in storage `name`.
///
/// # Errors
/// If the name is unknown. The error lists the valid names and suggests the nearest.
pub fn built_in(name: &str) -> Result<Storage, UnknownName> {
    let text = built_in_toml(name)?;
    Ok(parse(name, text).unwrap_or_else(|error| panic!("built-in storage {name}: {error}")))
}

/// Reader of the values of one table.
struct TableReader<'a> {
    table: &'a Table,
    /// The table's name in messages, with a dot: `read.`.
    prefix: &'static str,
}

impl<'a> TableReader<'a> {
    fn new(table: &'a Table, prefix: &'static str, keys: &[&str]) -> Result<Self> {
        match table.keys().find(|key| !keys.contains(&key.as_str())) {
            Some(unknown) => Err(choice::unknown("key", unknown, keys.iter().copied()).into()),
            None => Ok(Self { table, prefix }),
        }
    }

    fn name(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    fn invalid<T>(&self, key: &str, wanted: &str) -> Result<T> {
        let given = self.table.get(key).map(ToString::to_string).unwrap_or_default();
        Err(StorageError::Value { key: self.name(key), given, wanted: wanted.to_owned() })
    }

    fn missing(&self, key: &str) -> StorageError {
        StorageError::Missing(self.name(key))
    }

    fn word(&self, key: &str) -> Result<Option<&'a str>> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::String(word)) => Ok(Some(word)),
            Some(_) => self.invalid(key, "write it in quotes"),
        }
    }

    fn size(&self, key: &str, usual: Option<u64>) -> Result<u64> {
        let bytes = match self.table.get(key) {
            None => return usual.ok_or_else(|| self.missing(key)),
            Some(Value::Integer(bytes)) => u64::try_from(*bytes).ok(),
            Some(Value::String(text)) => text.parse::<ByteSize>().ok().map(|size| size.as_u64()),
            Some(_) => None,
        };
        let wanted = "write bytes, or a size such as \"256 KiB\" or \"1 TB\"";
        bytes.map_or_else(|| self.invalid(key, wanted), Ok)
    }

    /// Reads one number, or three: best, likely and worst. Each is at most `most` and is multiplied
    /// by `times`. `usual` applies if the key is missing.
    fn spread(&self, key: &str, times: f64, most: f64, usual: Option<Spread>) -> Result<Spread> {
        let Some(given) = self.table.get(key) else {
            return usual.ok_or_else(|| self.missing(key));
        };
        let number = |value: &Value| {
            let number = match value {
                Value::Integer(number) => *number as f64,
                Value::Float(number) => *number,
                _ => return None,
            };
            (0.0..=most).contains(&number).then(|| (number * times).round() as u32)
        };
        let spread = match given {
            Value::Array(all) => {
                match all.iter().map(number).collect::<Option<Vec<u32>>>().as_deref() {
                    Some([low, typical, high])
                        if [low, typical, high].is_sorted() || [high, typical, low].is_sorted() =>
                    {
                        Some(Spread { low: *low, typical: *typical, high: *high })
                    }
                    _ => None,
                }
            }
            one => number(one).map(Spread::exact),
        };
        let wanted = format!("give a number from 0 to {most}, or three as [best, likely, worst]");
        spread.map_or_else(|| self.invalid(key, &wanted), Ok)
    }

    /// Reads a time in µs, or three.
    fn time(&self, key: &str, usual: Option<Spread>) -> Result<Spread> {
        self.spread(key, 1.0, MOST_US, usual)
    }

    fn inner(&self, key: &'static str) -> Result<Option<&'a Table>> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(table)),
            Some(_) => self.invalid(key, "write a table"),
        }
    }

    fn transfer(&self, key: &'static str, like: Option<Transfer>) -> Result<Transfer> {
        const KEYS: [&str; 3] = ["random-us", "sequential-us", "mb-per-s"];
        let empty = Table::new();
        let table = self.inner(key)?;
        if table.is_none() && like.is_none() {
            return Err(self.missing(key));
        }
        let prefix = if key == "read" { "read." } else { "write." };
        let read = TableReader::new(table.unwrap_or(&empty), prefix, &KEYS)?;
        let kb_per_s =
            read.spread("mb-per-s", 1_000.0, MOST_MB_PER_S, like.map(|like| like.kb_per_s))?;
        if kb_per_s.typical == 0 {
            return read.invalid("mb-per-s", "give more than 0");
        }
        Ok(Transfer {
            random_us: read.time("random-us", like.map(|like| like.random_us))?,
            sequential_us: read.time("sequential-us", like.map(|like| like.sequential_us))?,
            kb_per_s,
        })
    }

    /// Reads `flash`: the keys of a card's file, and `erase-us`. `false` removes what `like` has.
    fn flash(&self, name: StorageName, like: Option<&Flash>) -> Result<Option<Flash>> {
        if self.table.get("flash") == Some(&Value::Boolean(false)) {
            return Ok(None);
        }
        let Some(table) = self.inner("flash")? else { return Ok(like.cloned()) };
        let read = TableReader { table, prefix: "flash." };
        let erase_us = read.time("erase-us", like.map(|like| like.erase_us))?;
        let mut card = table.clone();
        card.remove("erase-us");
        let like = like.map(|like| &like.card);
        let card = embermark_flash::parse_like(name.as_str(), &card.to_string(), like)?;
        Ok(Some(Flash { card, erase_us }))
    }

    fn disk(&self, like: Option<Platters>) -> Result<Option<Platters>> {
        const KEYS: [&str; 4] = ["turns-per-minute", "track-seek-us", "full-seek-us", "capacity"];
        if self.table.get("disk") == Some(&Value::Boolean(false)) {
            return Ok(None);
        }
        let Some(table) = self.inner("disk")? else { return Ok(like) };
        let read = TableReader::new(table, "disk.", &KEYS)?;
        let turns = like.map(|like| Spread::exact(like.turns_per_minute));
        let turns = read.spread("turns-per-minute", 1.0, 30_000.0, turns)?.typical;
        if turns < 100 {
            return read.invalid("turns-per-minute", "give 100 to 30000");
        }
        Ok(Some(Platters {
            turns_per_minute: turns,
            track_seek_us: read.time("track-seek-us", like.map(|like| like.track_seek_us))?,
            full_seek_us: read.time("full-seek-us", like.map(|like| like.full_seek_us))?,
            capacity_bytes: read.size("capacity", like.map(|like| like.capacity_bytes))?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Times;

    #[test]
    fn every_built_in_storage_is_read_and_holds_a_device() {
        for (name, _) in STORAGES {
            let storage = built_in(name).unwrap();
            assert_eq!(storage.name.as_str(), name);
            assert!(!storage.about.is_empty() && storage.read.kb_per_s.typical > 1_000, "{name}");
            Times::new(&storage, 1 << 30).unwrap();
            let like = parse(name, &format!("like = \"{name}\"\nabout = \"{}\"", storage.about));
            assert_eq!(like.unwrap(), storage);
        }
    }

    #[test]
    fn a_storage_like_another_one_has_the_rest_from_there() {
        let own = parse("own", "like = \"hdd-7200\"\nflush-us = [1, 2, 3]\nwrite.mb-per-s = 0.5")
            .unwrap();
        let like = built_in("hdd-7200").unwrap();
        assert_eq!((own.disk, own.cache_bytes), (like.disk, like.cache_bytes));
        assert_eq!(own.flush_us, Spread { low: 1, typical: 2, high: 3 });
        assert_eq!(
            (own.write.kb_per_s, own.write.random_us),
            (Spread::exact(500), like.write.random_us)
        );
        let worn = parse("worn", "like = \"sd-a1\"\nflash.filled-percent = 100").unwrap();
        let (worn, card) =
            (worn.flash.unwrap().card, built_in("sd-a1").unwrap().flash.unwrap().card);
        assert_eq!((worn.filled_permille, worn.capacity_bytes), (1_000, card.capacity_bytes));
        let bare = parse("own", "like = \"sd-a1\"\nflash = false").unwrap();
        assert_eq!(bare.flash, None);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_field_and_what_is_allowed() {
        let says = |text: &str| parse("own", text).unwrap_err().to_string();
        for (text, expected) in [
            ("like = \"sd-a11\"", "unknown storage 'sd-a11', did you mean 'sd-a1'?"),
            ("flush = 3", "unknown key 'flush', did you mean 'flush-us'?"),
            ("like = \"sd-a1\"\nread.random = 3", "did you mean 'random-us'?"),
            (
                "like = \"sd-a1\"\nread.random-us = -3",
                "'read.random-us' is -3: give a number from 0 to 10000000",
            ),
            ("like = \"sd-a1\"\nread.random-us = 99000000", "give a number from 0 to 10000000"),
            ("like = \"sd-a1\"\nread.random-us = [1, 5, 3]", "as [best, likely, worst]"),
            ("like = \"sd-a1\"\nread = 3", "'read' is 3: write a table"),
            ("like = \"sd-a1\"\nwrite.mb-per-s = 0", "'write.mb-per-s' is 0: give more than 0"),
            ("like = \"sd-a1\"\ncache = \"2 GiB\"", "give at most 1 GiB"),
            ("like = \"sd-a1\"\ncache = \"1 MiB\"", "'cached-write-us' is missing"),
            ("like = \"sd-a1\"\nqueue-depth = 0", "'queue-depth' is 0: give 1 or more"),
            ("like = \"sd-a1\"\nqueue-depth = 64", "give a number from 0 to 32"),
            ("like = \"hdd-7200\"\nflash.erase-us = 1", "'flash': 'page' is missing"),
            ("like = \"sd-a1\"\nflash.filled-percent = 101", "'flash': 'filled-percent' is"),
            (
                "like = \"hdd-7200\"\ndisk.turns-per-minute = 1",
                "'disk.turns-per-minute' is 1: give 100 to 30000",
            ),
            (
                "like = \"sd-a1\"\nsector = 100",
                "'sector' is 100: give 512, 1024, 2048 or 4096 bytes",
            ),
            ("like = 1", "'like' is 1: write it in quotes"),
            ("flush-us = 1", "'queue-depth' is missing"),
            ("like", "invalid TOML"),
        ] {
            assert!(says(text).contains(expected), "{text}: {}", says(text));
        }
        let name = parse("no name", "like = \"sd-a1\"").unwrap_err().to_string();
        assert!(name.contains("'no name' is not a valid storage name"), "{name}");
    }
}
