//! An eMMC's own estimate of its life (kernel documentation, `driver-api/mmc/mmc-dev-attrs`;
//! JESD84-B51, 7.4.40 and 7.4.41).

use std::path::Path;

use embermark_model::result::{WearCounter, WearUnit};

use super::{Counted, counter};
use crate::system::read;

const LIFE: &str = "device/life_time";
const SPARE: &str = "device/pre_eol_info";

/// Returns the used life of each cell type that reports it, in tenths. 11 means that the life is
/// exceeded.
pub(crate) fn life_time(disk: &Path) -> Option<Vec<u32>> {
    let steps: Vec<u32> = all_life_time(disk)?.into_iter().filter(|step| *step > 0).collect();
    (!steps.is_empty()).then_some(steps)
}

/// Returns the used life of both cell types in tenths. 0 means not reported.
fn all_life_time(disk: &Path) -> Option<Vec<u32>> {
    let text = read(&disk.join(LIFE))?;
    Some(text.split_whitespace().filter_map(hexadecimal).collect())
}

/// Returns the use of its spare blocks: 1 few, 2 four fifths, 3 nearly all.
pub(crate) fn spare_blocks(disk: &Path) -> Option<u32> {
    read(&disk.join(SPARE)).and_then(|text| hexadecimal(&text)).filter(|step| *step > 0)
}

fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

pub(super) fn counters(disk: &Path) -> Counted {
    let kinds = all_life_time(disk).unwrap_or_default();
    let life = ["A", "B"].iter().zip(kinds).filter(|(_, step)| *step > 0).map(|(kind, step)| {
        let name = format!("life used, cells of kind {kind}");
        counter(&name, format!("sysfs {LIFE}"), WearUnit::Percent, 10.0, f64::from(step) * 10.0)
    });
    let spare = spare_blocks(disk).map(|step| {
        counter("spare blocks used", format!("sysfs {SPARE}"), WearUnit::Step, 1.0, f64::from(step))
    });
    let counters: Vec<WearCounter> = life.chain(spare).collect();
    match counters.is_empty() {
        true => Err("the eMMC does not report its wear (no life_time and pre_eol_info)".to_owned()),
        false => Ok(counters),
    }
}
