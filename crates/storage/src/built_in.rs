//! The built-in storages. Each is a file in `media`, which names the source of each figure.

use embermark_model::choice::{self, UnknownName};

/// Name and TOML of every built-in storage.
pub const STORAGES: [(&str, &str); 7] = [
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
