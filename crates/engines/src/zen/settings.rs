//! The settings of a database, as a file of it tells them.

use super::client::Client;
use super::file::{self, Field, File};
use super::tier::Mode;
use super::{NAME, table};
use crate::{EngineError, OpenOptions, Result};

/// What decides speed and durability, as a file tells it that is made and removed for that.
pub(super) fn read(
    client: &Client,
    mode: Mode,
    options: &OpenOptions,
    library: &str,
) -> Result<Vec<(String, String)>> {
    let path = table::path(&options.dir, "embermark")?;
    file::create(client, &path, 8, Field { at: 0, length: 8 })?;
    // SAFETY: the file is closed below, before the client.
    let probe = unsafe { File::open(client, &path, mode.open_mode()) }?
        .ok_or_else(|| EngineError::failed(NAME, "open a file it has just made", "none there"))?;
    let facts = probe.facts()?;
    probe.close()?;
    file::delete(client, &path)?;
    if mode == Mode::Durable && !facts.loggable {
        let why = "the engine says that its log does not cover the file";
        return Err(EngineError::failed(NAME, "make transactions durable", why));
    }
    let durability = match mode {
        Mode::Accelerated => "does not apply to accelerated mode",
        Mode::Durable => "on, as ZEN_TRANSACTION_DURABILITY says (not read back)",
    };
    let loggable = if facts.loggable { "yes" } else { "no" };
    Ok([
        ("library", library),
        ("open mode", if mode == Mode::Durable { "normal" } else { "accelerated" }),
        ("file version", &facts.file_version),
        ("page size", &facts.page_size),
        ("loggable", loggable),
        ("Transaction Durability", durability),
        ("cache", "as the engine is configured: its API does not set it"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into())
}
