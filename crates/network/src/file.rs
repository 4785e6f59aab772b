//! Reads the description of a link from TOML.

use embermark_model::choice::{self, UnknownName};
use embermark_model::network::NetworkLink;
use embermark_model::storage::{InvalidStorageName, StorageName};
use serde::Deserialize;

/// Name and TOML of every built-in link. Each is a file in `links`, which names the source of its
/// figures.
const LINKS: [(&str, &str); 5] = [
    ("ethernet", include_str!("../links/ethernet.toml")),
    ("wifi", include_str!("../links/wifi.toml")),
    ("wifi-far", include_str!("../links/wifi-far.toml")),
    ("lte", include_str!("../links/lte.toml")),
    ("lte-m", include_str!("../links/lte-m.toml")),
];

/// An error in the description of a link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Invalid TOML, or an unknown or missing key.
    #[error("{0}")]
    Toml(String),
    /// Invalid name. The name of a link is the stem of its file's name.
    #[error(
        "'{0}' is not a valid name of a link: use 1 to 32 letters, digits, dashes and underscores"
    )]
    Name(String),
    /// An unknown name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// A value out of range.
    #[error("'{0}' is {1}: give {2}")]
    Value(&'static str, String, &'static str),
}

/// The keys of a link's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Described {
    #[serde(default)]
    about: String,
    delay_ms: f64,
    #[serde(default)]
    jitter_ms: f64,
    #[serde(default)]
    up_mbit_per_s: f64,
    #[serde(default)]
    down_mbit_per_s: f64,
    #[serde(default)]
    half_duplex: bool,
    #[serde(default)]
    loss_percent: f64,
    #[serde(default)]
    queue: Option<bytesize::ByteSize>,
}

/// Queue size in bytes of a link whose file does not set one.
const QUEUE: u64 = 256_000;

/// Reads the link `name` from TOML.
///
/// # Errors
/// Returns an error for invalid TOML, an unknown or missing key, or a value out of range.
pub fn parse(name: &str, text: &str) -> Result<NetworkLink, LinkError> {
    StorageName::new(name).map_err(|InvalidStorageName(name)| LinkError::Name(name))?;
    let given: Described = toml::from_str(text)
        .map_err(|error| LinkError::Toml(error.to_string().trim().to_owned()))?;
    let number = |key, given: f64, most: f64, times: f64, wanted| {
        let fits = (0.0..=most).contains(&given);
        let refused = || LinkError::Value(key, given.to_string(), wanted);
        fits.then(|| (given * times).round() as u32).ok_or_else(refused)
    };
    let milliseconds =
        |key, given| number(key, given, 10_000.0, 1_000.0, "milliseconds, from 0 to 10000");
    let rate = |key, given: f64| {
        let wanted = "Mbit/s, from 0.001 to 10000, or 0 for no limit";
        match number(key, given, 10_000.0, 1_000.0, wanted)? {
            0 if given > 0.0 => Err(LinkError::Value(key, given.to_string(), wanted)),
            rate => Ok(rate),
        }
    };
    let queue = given.queue.map_or(QUEUE, |size| size.as_u64());
    // A smaller queue would drop the only packet of an idle link. No link has more than a hundred
    // megabytes.
    if !(3_000..=100_000_000).contains(&queue) {
        let wanted = "bytes or a size, from \"3 kB\" to \"100 MB\"";
        return Err(LinkError::Value("queue", queue.to_string(), wanted));
    }
    Ok(NetworkLink {
        name: name.to_owned(),
        about: given.about,
        delay_us: milliseconds("delay-ms", given.delay_ms)?,
        jitter_us: milliseconds("jitter-ms", given.jitter_ms)?,
        up_kbit_per_s: rate("up-mbit-per-s", given.up_mbit_per_s)?,
        down_kbit_per_s: rate("down-mbit-per-s", given.down_mbit_per_s)?,
        half_duplex: given.half_duplex,
        loss_ppm: number(
            "loss-percent",
            given.loss_percent,
            50.0,
            10_000.0,
            "percent, from 0 to 50",
        )?,
        queue_bytes: queue as u32,
    })
}

/// Returns the built-in link `name`.
///
/// # Errors
/// If the name is unknown. The error lists the valid names and suggests the nearest.
pub fn built_in(name: &str) -> Result<NetworkLink, UnknownName> {
    let found = LINKS.iter().find(|(known, _)| *known == name);
    let names = LINKS.iter().map(|(name, _)| *name);
    let (_, text) = found.ok_or_else(|| choice::unknown("network", name, names))?;
    Ok(parse(name, text).unwrap_or_else(|error| panic!("built-in network {name}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_link_is_read() {
        for (name, _) in LINKS {
            let link = built_in(name).unwrap();
            assert_eq!(link.name, name);
            assert!(
                !link.about.is_empty() && link.delay_us > 0 && link.up_kbit_per_s > 0,
                "{name}"
            );
        }
    }

    #[test]
    fn a_file_has_delay_rates_loss_and_queue() {
        let text = "delay-ms = 2.5\nup-mbit-per-s = 0.3\nloss-percent = 0.01\nqueue = \"10 kB\"";
        let link = parse("roof", text).unwrap();
        assert_eq!((link.delay_us, link.up_kbit_per_s, link.down_kbit_per_s), (2_500, 300, 0));
        assert_eq!((link.loss_ppm, link.queue_bytes, link.half_duplex), (100, 10_000, false));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_field_and_what_is_allowed() {
        let says = |text: &str| parse("own", text).unwrap_err().to_string();
        for (text, expected) in [
            ("delay = 3", "unknown field `delay`"),
            ("jitter-ms = 3", "missing field `delay-ms`"),
            ("delay-ms = -1", "'delay-ms' is -1: give milliseconds, from 0 to 10000"),
            ("delay-ms = nan", "'delay-ms' is NaN"),
            ("delay-ms = 1\nup-mbit-per-s = 0.0001", "'up-mbit-per-s' is 0.0001: give Mbit/s"),
            ("delay-ms = 1\nloss-percent = 90", "'loss-percent' is 90: give percent"),
            ("delay-ms = 1\nqueue = \"1 kB\"", "'queue' is 1000: give bytes or a size"),
            ("delay-ms = 1\nqueue = \"much\"", "queue"),
        ] {
            assert!(says(text).contains(expected), "{text}: {}", says(text));
        }
        assert!(parse("no name", "delay-ms = 1").unwrap_err().to_string().contains("'no name'"));
        assert!(built_in("wify").unwrap_err().to_string().contains("did you mean 'wifi'?"));
    }
}
