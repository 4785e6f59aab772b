//! Facts about engines, as far as a result has them.

use embermark_model::result::{Cell, ResultFile};
use serde::Serialize;

use crate::statistics::median;
use crate::summary::{self, Engine, Resource, Work};
use crate::text;

/// The text for what a result does not report.
pub(super) const UNKNOWN: &str = "unknown";

/// What a licence roughly requires of a product that uses the engine. Not legal advice: read the licence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum LicenceClass {
    /// Little more than a notice.
    Permissive,
    /// In some cases the source of the product.
    Copyleft,
    /// Something else: proprietary, source available, or not known.
    Other,
}

/// Words that identify classes of licences.
const PERMISSIVE: [&str; 7] = ["mit", "apache", "bsd", "isc", "postgresql", "openldap", "zlib"];
const COPYLEFT: [&str; 5] = ["gpl", "lgpl", "agpl", "sleepycat", "mpl"];

impl LicenceClass {
    /// Returns the class of a licence by its name; for a choice (`Apache-2.0 or GPL-2.0`), the most permissive.
    pub fn from_name(licence: &str) -> Self {
        let alternatives = licence.to_lowercase();
        alternatives.split(" or ").map(Self::from_single_name).min().unwrap_or(Self::Other)
    }

    fn from_single_name(licence: &str) -> Self {
        let is = |known: &[&str]| {
            licence.split(|c: char| !c.is_alphanumeric()).any(|word| known.contains(&word))
        };
        if is(&COPYLEFT) {
            Self::Copyleft
        } else if is(&PERMISSIVE) || licence.contains("public domain") {
            Self::Permissive
        } else {
            Self::Other
        }
    }
}

/// Facts about an engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Facts {
    /// The name of the engine.
    pub name: String,
    /// `embedded`, `server` or `reference`.
    pub kind: String,
    /// `SQL`, `key-value`, `document` or `series`; `unknown` in results without it.
    pub data_model: String,
    /// Licence of what is linked or started; `unknown` in results without it.
    pub licence: String,
    /// The class of that licence.
    pub licence_class: LicenceClass,
    /// Whether its figures may be published.
    pub publishable: bool,
    /// Whether its interface is SQL.
    pub sql: bool,
    /// Whether it is a server that was given by its URL.
    pub by_url: bool,
    /// For a configuration: the engine and the settings. Its durability is what their author claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// For a configuration: how its settings differ from the tier's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_durability: Option<String>,
    /// Peak memory in this tier at these scales, in any variant, in bytes; `null` if not measured.
    pub peak_bytes: Option<f64>,
}

/// Returns the facts about an engine, whose cells at these scales in the tier are `here`.
pub(super) fn engine_facts(
    file: &ResultFile,
    here: &[&Cell],
    Engine { id: engine, by_url, own_durability, .. }: &Engine<'_>,
) -> Facts {
    let peaks = here.iter().filter_map(|cell| median(&Resource::PEAK.per_trial(cell, Work::All)));
    let peak_bytes = peaks.reduce(f64::max);
    let cells = || file.cells.iter().filter(|cell| cell.id.engine == *engine);
    let told = file.manifest.engines.get(*engine);
    let unknown = || UNKNOWN.to_owned();
    let licence = told.map_or_else(unknown, |facts| facts.licence.clone());
    let data_model = told.map_or_else(unknown, |facts| facts.data_model.clone());
    let own = file.plan.configurations.get(*engine);
    let library = own.and_then(|own| own.library.as_ref());
    let library = library.map(|path| format!("library={}", path.display()));
    let client = own.and_then(|own| own.client.as_ref()).map(ToString::to_string);
    let further = [library, client].into_iter().flatten();
    let further = further.map(|word| format!(" ({})", text::plain(&word))).collect::<String>();
    Facts {
        name: told.map_or(*engine, |facts| &facts.name).to_owned()
            + if *by_url { " (by URL)" } else { "" }
            + &further,
        kind: summary::kind(file, engine, &file.manifest.engines).unwrap_or("embedded").to_owned(),
        sql: data_model == "SQL",
        data_model,
        licence_class: LicenceClass::from_name(&licence),
        licence,
        publishable: !cells().any(|cell| cell.unpublishable),
        by_url: *by_url,
        configuration: own.filter(|own| own.has_settings()).map(ToString::to_string),
        own_durability: own_durability.map(str::to_owned),
        peak_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_told_by_their_names_and_a_choice_is_the_users() {
        for (class, licences) in [
            (
                LicenceClass::Permissive,
                &["public domain", "MIT", "Apache-2.0 or GPL-2.0", "OpenLDAP Public License 2.8"][..],
            ),
            (
                LicenceClass::Copyleft,
                &["GPL-2.0", "GPL-2.0 or GPL-3.0", "Sleepycat (AGPL from release 6 on)"],
            ),
            (LicenceClass::Other, &["SSPL-1.0", "proprietary", "limited", "-", UNKNOWN, ""]),
        ] {
            for licence in licences {
                assert_eq!(LicenceClass::from_name(licence), class, "{licence}");
            }
        }
    }
}
