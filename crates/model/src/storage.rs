//! Storage devices that can be imitated: their parameters.

use std::fmt;

use arrayvec::ArrayString;
use serde::{Deserialize, Serialize};

use crate::Card;
use crate::card::Spread;

/// The name of a storage: a built-in name, or the stem of its file's name. It is part of a cell's
/// id, so it is small and `Copy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(type = "string"))]
#[serde(try_from = "String", into = "String")]
pub struct StorageName(ArrayString<{ Self::MOST }>);

/// An invalid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a valid storage name: use 1 to 32 letters, digits, dashes and underscores")]
pub struct InvalidStorageName(pub String);

impl StorageName {
    /// Maximum length of a name in bytes.
    pub const MOST: usize = 32;

    /// Checks a name, which becomes part of folder and column names.
    ///
    /// # Errors
    /// If it is empty, longer than [`MOST`](Self::MOST) bytes, or has characters other than
    /// letters, digits, dashes and underscores.
    pub fn new(name: &str) -> Result<Self, InvalidStorageName> {
        let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
        let fits = !name.is_empty() && name.chars().all(plain);
        let name = fits.then_some(name).ok_or_else(|| InvalidStorageName(name.to_owned()))?;
        ArrayString::from(name).map(Self).map_err(|_| InvalidStorageName(name.to_owned()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StorageName {
    type Error = InvalidStorageName;

    fn try_from(name: String) -> Result<Self, InvalidStorageName> {
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

/// The parameters of a storage device. `docs/storage.md` explains the model and gives the source of
/// each figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Storage {
    /// Its name.
    pub name: StorageName,
    /// A one-line description.
    pub about: String,
    /// The time of a read.
    pub read: Transfer,
    /// The time until a write is in the medium.
    pub write: Transfer,
    /// The time of a flush when the write cache is empty, in µs.
    pub flush_us: Spread,
    /// Size of the volatile write cache in bytes. A write ends when it is in the cache, and a flush
    /// when everything is in the medium. 0: no cache; a write ends when it is in the medium.
    pub cache_bytes: u64,
    /// The latency of a write into the cache in µs. Its bytes are transferred at the rate of reads.
    pub cached_write_us: Spread,
    /// The number of requests that the device works on at the same time.
    pub queue_depth: u32,
    /// Bytes that the device writes whole or not at all when the power fails, as it reports
    /// (`physical_block_size`). Some engines choose their page size by it.
    #[serde(default = "sector")]
    pub sector_bytes: u32,
    /// The flash and its translation layer, whose erasing and copying stall some writes. `None`: no
    /// stalls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
    /// The mechanics of a hard disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Platters>,
}

/// Sector size in bytes if a device reports none.
pub const SECTOR: u32 = 512;

const fn sector() -> u32 {
    SECTOR
}

impl Storage {
    /// Returns the time of a sequential write of 4 KiB and the flush after it in ns, by the likely
    /// values. `None` for a hard disk, whose seeks and rotations take milliseconds.
    pub fn durable_write_ns(&self) -> Option<u64> {
        const BYTES: u64 = 4_096;
        let us = |spread: Spread| u64::from(spread.typical) * 1_000;
        let bytes = |rate: Spread| BYTES * 1_000_000 / u64::from(rate.typical.max(1));
        let medium = us(self.write.sequential_us) + bytes(self.write.kb_per_s);
        let into_cache = match self.cache_bytes {
            0 => 0,
            _ => us(self.cached_write_us) + bytes(self.read.kb_per_s),
        };
        self.disk.is_none().then(|| into_cache + medium + us(self.flush_us))
    }
}

/// The time of a request: a latency, and a transfer time that grows with the number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Latency of a request that does not begin where the last one of its kind ended, in µs.
    pub random_us: Spread,
    /// Latency of a request that does, in µs.
    pub sequential_us: Spread,
    /// Transfer rate in kB (1,000 bytes) per second.
    pub kb_per_s: Spread,
}

/// What stalls writes to flash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flash {
    /// Its geometry and address mapping.
    pub card: Card,
    /// Time of an erase in µs. Copying a page takes as long as writing one at [`Storage::write`]'s
    /// rate.
    pub erase_us: Spread,
}

/// A hard disk's mechanics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Platters {
    /// Rotational speed in turns per minute.
    pub turns_per_minute: u32,
    /// Seek time to the next track, in µs.
    pub track_seek_us: Spread,
    /// Seek time across the whole disk, in µs.
    pub full_seek_us: Spread,
    /// Capacity of the whole disk in bytes. The imitated device is its first part.
    pub capacity_bytes: u64,
}
