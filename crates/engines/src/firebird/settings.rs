//! Settings that a configuration can change, with the names of `MON$DATABASE`
//! (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref-appx05-mondb>).

use super::api::info;
use embermark_model::Durability;

use crate::settings::{SWITCH, is_on, lines};
use crate::{Candidate, Setting, SettingValues, Settings};

/// Settings of the engine.
pub(super) const SETTINGS: Settings = Settings {
    known: &[
        Setting::new("page_size", SettingValues::Number),
        Setting::new("page_buffers", SettingValues::Number).by_default("2048"),
        Setting::new("forced_writes", SWITCH).by_default("ON"),
        Setting::new("sweep_interval", SettingValues::Number).by_default("20000"),
    ],
    others: None,
    reserved: &[],
    candidates: CANDIDATES,
    written: |set| {
        lines(
            "# gfix of the database FILE, once; a page size when it is made",
            set,
            |name, value| match name {
                "page_size" => format!("CREATE DATABASE 'FILE' PAGE_SIZE {value};"),
                "page_buffers" => format!("gfix -buffers {value} FILE"),
                "forced_writes" => {
                    format!("gfix -write {} FILE", if is_on(value) { "sync" } else { "async" })
                }
                _ => format!("gfix -housekeeping {value} FILE"),
            },
        )
    },
};

const CREATE_DATABASE: &str = "https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref50-ddl-db-create";
const GFIX: &str =
    "https://www.firebirdsql.org/file/documentation/html/en/firebirddocs/gfix/firebird-gfix.html";

const CANDIDATES: &[Candidate] = &[
    Candidate::new(&[("page_size", "4096")], "more pages for a row", CREATE_DATABASE),
    Candidate::new(&[("page_size", "16384")], "a change of a row writes more", CREATE_DATABASE),
    Candidate::new(&[("page_size", "32768")], "a change of a row writes more", CREATE_DATABASE),
    Candidate::new(&[("sweep_interval", "0")], "old versions of rows stay until a sweep", GFIX),
    Candidate::new(&[("forced_writes", "OFF")], "a power cut may damage the file", GFIX)
        .keeping(Durability::Process),
];

/// Information item of each setting.
pub(super) const INFO_ITEMS: [(u8, &str); 4] = [
    (info::FORCED_WRITES, "forced_writes"),
    (info::PAGE_SIZE, "page_size"),
    (info::PAGE_BUFFERS, "page_buffers"),
    (info::SWEEP_INTERVAL, "sweep_interval"),
];
