//! What a configuration may set, by the names of `MON$DATABASE`
//! (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref-appx05-mondb>).

use super::api::info;
use crate::settings::SWITCH;
use crate::{Setting, Settings, Takes};

/// Its settings.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("page_size", Takes::Number),
        Setting::new("page_buffers", Takes::Number).by_default("2048"),
        Setting::new("forced_writes", SWITCH).by_default("ON"),
        Setting::new("sweep_interval", Takes::Number).by_default("20000"),
    ],
    others: None,
    reserved: &[],
};

/// What the database is asked for each.
pub(super) const ASKED: [(u8, &str); 4] = [
    (info::FORCED_WRITES, "forced_writes"),
    (info::PAGE_SIZE, "page_size"),
    (info::PAGE_BUFFERS, "page_buffers"),
    (info::SWEEP_INTERVAL, "sweep_interval"),
];
