//! The built-in links. Each is a file in `links`, which names the source of its figures.

/// Name and TOML of every built-in link.
pub const LINKS: [(&str, &str); 5] = [
    ("ethernet", include_str!("../links/ethernet.toml")),
    ("wifi", include_str!("../links/wifi.toml")),
    ("wifi-far", include_str!("../links/wifi-far.toml")),
    ("lte", include_str!("../links/lte.toml")),
    ("lte-m", include_str!("../links/lte-m.toml")),
];

/// Names of the built-in links.
pub fn names() -> impl Iterator<Item = &'static str> {
    LINKS.iter().map(|(name, _)| *name)
}
