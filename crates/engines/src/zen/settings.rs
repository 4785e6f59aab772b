//! The settings of a database, as one of its files reports them.

use std::rc::Rc;

use super::client::Client;
use super::file::{self, Field, File};
use super::tier::Mode;
use super::{NAME, table};
use crate::{EngineError, OpenOptions, Result, as_set};

/// Reads what decides speed and durability, as reported by a file that is made and removed for this
/// purpose.
pub(super) fn read(
    client: &Rc<Client>,
    mode: Mode,
    options: &OpenOptions,
    library: &str,
) -> Result<[(&'static str, String); 7]> {
    let path = table::path(&options.dir, "embermark")?;
    file::create(client, &path, 8, Field { at: 0, length: 8 })?;
    let probe = File::open(client, &path, mode.open_mode())?
        .ok_or_else(|| EngineError::failed(NAME, "open a file it has just made", "none there"))?;
    let facts = probe.facts()?;
    probe.close()?;
    file::delete(client, &path)?;
    let durability = match mode {
        Mode::Accelerated => "does not apply to accelerated mode",
        Mode::Durable => "on, as ZEN_TRANSACTION_DURABILITY says (not read back)",
    };
    let loggable = if facts.loggable { "yes" } else { "no" };
    let open_mode = if mode == Mode::Durable { "normal" } else { "accelerated" };
    Ok([
        ("library", library.to_owned()),
        ("open mode", as_set(open_mode)),
        ("file version", facts.file_version),
        ("page size", facts.page_size),
        ("loggable", loggable.to_owned()),
        ("Transaction Durability", durability.to_owned()),
        ("cache", "as the engine is configured: its API does not set it".to_owned()),
    ])
}
