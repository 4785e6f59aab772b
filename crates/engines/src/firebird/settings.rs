//! Settings that a configuration can change, with the names of `MON$DATABASE`
//! (<https://www.firebirdsql.org/file/documentation/html/en/refdocs/fblangref50/firebird-50-language-reference.html#fblangref-appx05-mondb>).

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
        lines("# gfix of the database FILE, once; a page size when it is made", set, written)
    },
};

/// Returns the command or statement that makes a setting.
fn written(name: &str, value: &str) -> String {
    match name {
        "page_size" => format!("CREATE DATABASE 'FILE' PAGE_SIZE {value};"),
        "page_buffers" => format!("gfix -buffers {value} FILE"),
        "forced_writes" if is_on(value) => "gfix -write sync FILE".to_owned(),
        "forced_writes" => "gfix -write async FILE".to_owned(),
        _ => format!("gfix -housekeeping {value} FILE"),
    }
}

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

/// Information item of each setting: `isc_info_forced_writes`, `isc_info_page_size`,
/// `isc_info_num_buffers`, and `isc_info_sweep_interval`.
pub(super) const INFO_ITEMS: [(u8, &str); 4] =
    [(52, "forced_writes"), (14, "page_size"), (15, "page_buffers"), (31, "sweep_interval")];
