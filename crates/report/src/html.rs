//! The report as one HTML file that needs nothing else: the page of `crates/report/page`, built
//! beforehand, with the figures put in as JSON.
//!
//! The figures are computed here, by [`crate::summary`]; the page computes ratios alone, because
//! what is the best changes with what is shown.

mod cells;
mod data;
mod durability;
mod gather;
mod tuned;
#[cfg(test)]
pub(crate) mod typescript;

use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::durability_result::Outcome;
use embermark_model::result::{EngineFacts, ResultFile};
use embermark_model::tuning_result::TuningResult;

use crate::fleet::Fleet;
use crate::scaling::Explanations;
use crate::shown::Record;
use crate::{ReportError, notes};

use data::AdviceData;
use durability::DurabilityData;
use tuned::TuningData;

pub(crate) use cells::plan;
pub use data::{Page, PhaseFacts, WorkloadFacts};
pub(crate) use gather::asked;

/// The built page, or nothing where it was not built before this crate.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Where the data goes in the page. It stands there once.
const MARK: &str = "\"EMBERMARK-DATA\"";

/// A result and the file it is in.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The file, to be named.
    pub path: &'a Path,
    /// What it holds.
    pub result: &'a ResultFile,
}

/// What the page shows beside what the result files hold.
#[derive(Clone, Debug, Default)]
pub struct PageOptions<'a> {
    /// Phase names in display order; phases not among them follow as they ran.
    pub order: &'a [&'a str],
    /// What adapters say of costs that stand out.
    pub explanations: Explanations<'a>,
    /// What is known of engines, by id. One that is not among them is shown by its id.
    pub engines: BTreeMap<String, EngineFacts>,
    /// What is known of workloads.
    pub workloads: Vec<WorkloadFacts>,
    /// Runs of `embermark durability` that tell what tiers rest on.
    pub durability: &'a Record,
    /// Rows a day, at which it is told how long a modelled flash card lasts.
    pub rows_per_day: Option<f64>,
}

/// Whether this build has the page.
pub const fn is_built() -> bool {
    !TEMPLATE.is_empty()
}

/// The page for one or several results.
///
/// # Errors
/// When this build has no page, or two files hold the same run.
pub fn page(sources: &[Source<'_>], options: PageOptions<'_>) -> Result<String, ReportError> {
    filled(&data(sources, options)?)
}

/// What the page is given.
///
/// # Errors
/// When two files hold the same run.
pub fn data<'a>(sources: &[Source<'a>], options: PageOptions<'_>) -> Result<Page<'a>, ReportError> {
    for (index, source) in sources.iter().enumerate() {
        let run_id = &source.result.manifest.run_id;
        let same = |other: &&Source<'_>| other.result.manifest.run_id == *run_id;
        if let Some(other) = sources[..index].iter().find(same) {
            let [first, second] = [other, source].map(|one| one.path.to_owned());
            return Err(ReportError::SameRun(first, second, crate::text::plain(run_id)));
        }
    }
    Ok(gather::gather(sources, options))
}

/// The page for a run of `embermark durability`. `unpublishable` are the engines whose licences forbid
/// publishing figures: those that were tried are named on the face of it.
///
/// # Errors
/// When this build has no page.
pub fn durability_page(run: &Outcome, unpublishable: &[&str]) -> Result<String, ReportError> {
    filled(&durability_data(run, unpublishable))
}

/// What that page is given.
pub fn durability_data(run: &Outcome, unpublishable: &[&str]) -> Page<'static> {
    let tried = run.tested.iter().map(|tested| &*tested.engine);
    Page {
        face: secret(unpublishable, tried),
        durability: Some(DurabilityData::of_run(run)),
        ..gather::gather(&[], PageOptions::default())
    }
}

/// The page for a result of `embermark tune`. `unpublishable` are the engines whose licences forbid publishing
/// figures.
///
/// # Errors
/// When this build has no page.
pub fn tuning_page(result: &TuningResult, unpublishable: &[&str]) -> Result<String, ReportError> {
    filled(&tuning_data(result, unpublishable))
}

/// What that page is given.
pub fn tuning_data(result: &TuningResult, unpublishable: &[&str]) -> Page<'static> {
    let tried = result.engines.values().map(|tuned| &*tuned.engine);
    Page {
        face: secret(unpublishable, tried),
        tuned: Some(TuningData::of(result)),
        ..gather::gather(&[], PageOptions::default())
    }
}

/// The page for many devices.
///
/// # Errors
/// When this build has no page.
pub fn fleet_page(fleet: Fleet) -> Result<String, ReportError> {
    filled(&fleet_data(fleet))
}

/// What that page is given.
pub fn fleet_data(mut fleet: Fleet) -> Page<'static> {
    let advice = AdviceData::new(None, fleet.take_advice());
    Page {
        advice: Some(advice).into_iter().filter(AdviceData::ranks).collect(),
        face: notes::face_of(&fleet.unpublishable()),
        fleet: Some(fleet),
        ..gather::gather(&[], PageOptions::default())
    }
}

/// What the face of a page says of those engines among `tried` whose licences forbid publishing figures.
fn secret<'a>(unpublishable: &[&str], tried: impl Iterator<Item = &'a str>) -> Option<String> {
    let tried: Vec<&str> = tried.collect();
    let secret: Vec<&str> =
        unpublishable.iter().copied().filter(|engine| tried.contains(engine)).collect();
    notes::secret(&secret)
}

/// The page of this build with the data in it.
fn filled(page: &Page<'_>) -> Result<String, ReportError> {
    if is_built() { fill(TEMPLATE, page) } else { Err(ReportError::NoPage) }
}

/// A template with the data in it.
fn fill(template: &str, page: &Page<'_>) -> Result<String, ReportError> {
    let json = serde_json::to_string(page)?;
    Ok(template.replacen(MARK, &inert(&json), 1))
}

/// JSON that means the same and cannot end the element it stands in: inside `script` only `<`
/// begins anything (<https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements>).
pub(crate) fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn no_text_of_a_result_can_end_the_element_that_holds_the_data() {
        let hostile = "</script><script>alert(1)</script><!--";
        let json = inert(&serde_json::to_string(hostile).unwrap());
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn the_data_takes_the_place_that_the_page_has_for_it() {
        let page = gather::gather(&[], PageOptions::default());
        let filled = fill("<script>\"EMBERMARK-DATA\"</script>", &page).unwrap();
        assert!(filled.starts_with("<script>{\"page\":1,"), "{filled}");
        assert!(filled.ends_with("}</script>"), "{filled}");
    }

    #[test]
    fn the_page_of_this_build_has_one_place_for_the_data() {
        if is_built() {
            assert_eq!(TEMPLATE.matches(MARK).count(), 1);
        }
    }
}
