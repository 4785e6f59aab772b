//! A storage device, as far as a model of its times has to know it.

use std::fmt;

use arrayvec::ArrayString;
use serde::{Deserialize, Serialize};

use crate::Card;
use crate::card::Spread;

/// The name of a storage: a built-in one's, or that of a file without its ending. It is part of a cell, so it is
/// small and copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StorageName(ArrayString<{ Self::MOST }>);

/// A name that no storage can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no name of a storage: give 1 to 32 letters, digits, dashes and underscores")]
pub struct NoName(pub String);

impl StorageName {
    /// The most bytes a name has.
    pub const MOST: usize = 32;

    /// A name. It stands in names of folders and columns.
    ///
    /// # Errors
    /// When it is empty, longer than [`MOST`](Self::MOST) bytes, or has other characters than letters, digits, dashes
    /// and underscores.
    pub fn new(name: &str) -> Result<Self, NoName> {
        let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
        let fits = !name.is_empty() && name.chars().all(plain);
        let name = fits.then_some(name).ok_or_else(|| NoName(name.to_owned()))?;
        ArrayString::from(name).map(Self).map_err(|_| NoName(name.to_owned()))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StorageName {
    type Error = NoName;

    fn try_from(name: String) -> Result<Self, NoName> {
        Self::new(&name)
    }
}

impl From<StorageName> for String {
    fn from(name: StorageName) -> Self {
        name.as_str().to_owned()
    }
}

impl fmt::Display for StorageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A storage device whose times can be imitated. `docs/storage.md` has the model and the source of each figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Its name.
    pub name: StorageName,
    /// What it is, in a line.
    pub about: String,
    /// How long a read takes.
    pub read: Transfer,
    /// How long a write takes until it is in the medium.
    pub write: Transfer,
    /// How long a flush takes when everything is in the medium already, in µs.
    pub flush_us: Spread,
    /// Its volatile write cache, in bytes: a write ends when it is there, and a flush when all of it is in the medium. 0:
    /// it has none, and a write ends when it is in the medium.
    pub cache_bytes: u64,
    /// How long a write into the cache takes, beside its bytes at the rate of reads, in µs.
    pub cached_write_us: Spread,
    /// How many requests it works on at the same time.
    pub queue_depth: u32,
    /// Its flash and translation layer: erasing and copying make some writes wait. None: its times have no stalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
    /// Its platters and heads, where it has such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Platters>,
}

/// How long a request takes: a time that all have, and one that grows with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Of a request that does not begin where the last one of its kind ended, in µs.
    pub random_us: Spread,
    /// Of one that does, in µs.
    pub sequential_us: Spread,
    /// Bytes that are transferred beside that, in kB (1,000 bytes) a second.
    pub kb_per_s: Spread,
}

/// What makes writes to flash wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flash {
    /// Its geometry and how it maps addresses.
    pub card: Card,
    /// How long an erase takes, in µs. A page that it copies takes as long as one that is written in a long row.
    pub erase_us: Spread,
}

/// A hard disk's mechanics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platters {
    /// Turns a minute.
    pub turns_per_minute: u32,
    /// A move of the heads to the next track, in µs.
    pub track_seek_us: Spread,
    /// A move across the whole disk, in µs.
    pub full_seek_us: Spread,
    /// Bytes of the whole disk: what lies on it here is the first part of them.
    pub capacity_bytes: u64,
}
