//! The storages that are known by a name: a file each in `media`, which says where its figures are from.

use embermark_model::Storage;
use embermark_model::choice::{self, UnknownName};

use crate::file;

/// Every built-in storage: its name and its file.
pub const STORAGES: [(&str, &str); 7] = [
    ("sd-class10", include_str!("../media/sd-class10.toml")),
    ("sd-a1", include_str!("../media/sd-a1.toml")),
    ("sd-a2", include_str!("../media/sd-a2.toml")),
    ("emmc", include_str!("../media/emmc.toml")),
    ("usb-stick", include_str!("../media/usb-stick.toml")),
    ("hdd-7200", include_str!("../media/hdd-7200.toml")),
    ("nvme", include_str!("../media/nvme.toml")),
];

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    STORAGES.iter().map(|(name, _)| *name)
}

/// The text of the built-in storage of a name.
///
/// # Errors
/// When there is none; says which there are, and the nearest.
pub fn text_of(name: &str) -> Result<&'static str, UnknownName> {
    let found = STORAGES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| choice::unknown("storage", name, names()))
}

/// The built-in storage of a name.
///
/// # Errors
/// When there is none; says which there are, and the nearest.
pub fn built_in(name: &str) -> Result<Storage, UnknownName> {
    let text = text_of(name)?;
    Ok(file::parse(name, text).unwrap_or_else(|error| panic!("built-in storage {name}: {error}")))
}
