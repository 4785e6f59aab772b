//! The report as one self-contained HTML file. It is the page of `crates/report/page`, built
//! beforehand, with the figures inserted as JSON.
//!
//! [`crate::summary`] computes the figures. The page computes only ratios, because the best engine
//! depends on what is shown.

mod cells;
mod data;
mod durability;
mod page_data;
mod plan;

use std::collections::BTreeMap;
use std::path::Path;

use embermark_model::durability_result::Outcome;
use embermark_model::result::{EngineFacts, ResultFile};
use embermark_model::tuning_result::TuningResult;

use crate::evidence::Record;
use crate::fleet::Fleet;
use crate::scaling::Explanations;
use crate::tuned::TuningData;
use crate::{ReportError, notes};

use data::AdviceData;
use durability::DurabilityData;

pub(crate) use cells::plan;
pub use data::{Page, PhaseFacts, WorkloadFacts};
pub(crate) use page_data::plan_and_machine;

/// The built page. Empty if it was not built before this crate.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));

/// Placeholder for the data in the page. It occurs once.
const MARK: &str = "\"EMBERMARK-DATA\"";

/// A result and its file.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Path that is shown.
    pub path: &'a Path,
    /// Content of the file.
    pub result: &'a ResultFile,
}

/// Data of the page that result files do not have.
#[derive(Clone, Debug, Default)]
pub struct PageOptions<'a> {
    /// Phase names in display order. Phases that are not listed follow in the order in which they
    /// ran.
    pub order: &'a [&'a str],
    /// Explanations of unusual costs, from the engines' adapters.
    pub explanations: Explanations<'a>,
    /// Facts about engines, by id. An engine without facts is shown by its id.
    pub engines: BTreeMap<String, EngineFacts>,
    /// Facts about workloads.
    pub workloads: Vec<WorkloadFacts>,
    /// Runs of `embermark durability`, the evidence for what tiers promise.
    pub durability: &'a Record,
    /// Rows per day for which the lifetime of a modelled flash card is shown.
    pub rows_per_day: Option<f64>,
}

/// Whether this build has the page.
pub const fn is_built() -> bool {
    !TEMPLATE.is_empty()
}

/// Returns the data of the page of one or several results.
///
/// # Errors
/// If two files hold the same run.
pub fn data<'a>(sources: &[Source<'a>], options: PageOptions<'_>) -> Result<Page<'a>, ReportError> {
    for (index, source) in sources.iter().enumerate() {
        let run_id = &source.result.manifest.run_id;
        let same = |other: &&Source<'_>| other.result.manifest.run_id == *run_id;
        if let Some(other) = sources[..index].iter().find(same) {
            let [first, second] = [other, source].map(|one| one.path.to_owned());
            return Err(ReportError::SameRun(first, second, crate::text::plain(run_id)));
        }
    }
    Ok(page_data::page_data(sources, options))
}

/// Returns the data of the page of a run of `embermark durability`. `unpublishable` are the engines
/// whose licences forbid publishing figures. The page names those that were tried at its top.
pub fn durability_data(run: &Outcome, unpublishable: &[&str]) -> Page<'static> {
    let tried: Vec<&str> = run.tested.iter().map(|tested| &*tested.engine).collect();
    Page {
        face: unpublishable_among(unpublishable, &tried),
        durability: Some(DurabilityData::from_run(run)),
        ..page_data::page_data(&[], PageOptions::default())
    }
}

/// Returns the data of the page of a result of `embermark tune`. `unpublishable` are the engines
/// whose licences forbid publishing figures.
pub fn tuning_data(result: &TuningResult, unpublishable: &[&str]) -> Page<'static> {
    let tried: Vec<&str> = result.engines.values().map(|tuned| &*tuned.engine).collect();
    Page {
        face: unpublishable_among(unpublishable, &tried),
        tuned: Some(TuningData::new(result)),
        ..page_data::page_data(&[], PageOptions::default())
    }
}

/// Returns the data of the page of many devices.
pub fn fleet_data(mut fleet: Fleet) -> Page<'static> {
    let advice = AdviceData::new(None, fleet.take_advice());
    Page {
        advice: Some(advice).into_iter().filter(AdviceData::ranks).collect(),
        face: notes::unpublishable_notice(&fleet.unpublishable()),
        fleet: Some(fleet),
        ..page_data::page_data(&[], PageOptions::default())
    }
}

/// Returns the notice at the top of a page about engines among `tried` whose licences forbid
/// publishing figures.
fn unpublishable_among(unpublishable: &[&str], tried: &[&str]) -> Option<String> {
    let secret = unpublishable.iter().copied().filter(|engine| tried.contains(engine));
    notes::unpublishable_text(&secret.collect::<Vec<_>>())
}

impl Page<'_> {
    /// Returns the page as one HTML file.
    ///
    /// # Errors
    /// If this build has no page.
    pub fn html(&self) -> Result<String, ReportError> {
        if is_built() { fill(TEMPLATE, self) } else { Err(ReportError::NoPage) }
    }
}

/// Inserts the data into a template.
fn fill(template: &str, page: &Page<'_>) -> Result<String, ReportError> {
    let json = serde_json::to_string(page)?;
    Ok(template.replacen(MARK, &inert(&json), 1))
}

/// Returns JSON with the same meaning that cannot end its HTML element. In a `script` element, only
/// `<` can do that
/// (<https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements>).
pub(crate) fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::data::VERSION;
    use super::*;
    use crate::tests::typescript::Declarations;

    #[test]
    fn the_typescript_of_the_page_is_that_of_what_it_is_given() {
        let declarations = Declarations::of_page();
        declarations.assert_written("page/src/data.ts", "Data of the page.", VERSION, "");
    }

    #[test]
    fn no_text_of_a_result_can_end_the_element_that_holds_the_data() {
        let hostile = "</script><script>alert(1)</script><!--";
        let json = inert(&serde_json::to_string(hostile).unwrap());
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn the_data_takes_the_place_that_the_page_has_for_it() {
        let page = page_data::page_data(&[], PageOptions::default());
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
