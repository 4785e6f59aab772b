//! The power chip of a Raspberry Pi 5, by its firmware's `vcgencmd pmic_read_adc`.

use std::collections::BTreeMap;
use std::path::Path;

use super::source::{Found, Kind, Power, Source};
use crate::program;

/// The firmware's program.
pub(super) const PROGRAM: &str = "vcgencmd";

/// The source, where the program is here and knows the question.
pub(super) fn find(program: &Path) -> Found {
    let absent = |why: String| Found { sources: Vec::new(), absent: vec![why] };
    match ask(program) {
        Ok(_) => {
            let about = "rails of the Raspberry Pi's power chip (vcgencmd pmic_read_adc); its 5 V rails, and \
                         so USB devices and what the header supplies, are not in it"
                .to_owned();
            let kind = Kind::Power(Power::Pmic(program.to_owned()));
            Found {
                sources: vec![Source { id: "pmic".to_owned(), about, kind }],
                absent: Vec::new(),
            }
        }
        Err(why) => absent(why),
    }
}

/// Watts now.
pub(super) fn watts(program: &Path) -> Option<f64> {
    ask(program).ok()
}

fn ask(program: &Path) -> Result<f64, String> {
    let said = program::output(program, &["pmic_read_adc"])?;
    let text = String::from_utf8_lossy(&said.stdout);
    parse(&text).ok_or_else(|| {
        let line = text.lines().next().unwrap_or_default().trim();
        let line = if line.is_empty() { "nothing" } else { line };
        format!(
            "{} knows no pmic_read_adc, which a Raspberry Pi 5 has (it says: {line})",
            program.display()
        )
    })
}

/// The sum of current times voltage over the rails that have both: `VDD_CORE_A current(7)=1.08A` and
/// `VDD_CORE_V volt(15)=0.72V`. The input of 5 V and the battery have a voltage alone.
fn parse(text: &str) -> Option<f64> {
    let mut rails: BTreeMap<&str, [Option<f64>; 2]> = BTreeMap::new();
    for line in text.lines() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.split_whitespace().next().unwrap_or_default();
        let Some((rail, kind)) = name.rsplit_once('_') else { continue };
        let number = value.trim().trim_end_matches(['A', 'V']).parse::<f64>().ok();
        let place = match kind {
            "A" => 0,
            "V" => 1,
            _ => continue,
        };
        rails.entry(rail).or_default()[place] = number;
    }
    let products = rails.values().filter_map(|[current, voltage]| Some((*current)? * (*voltage)?));
    let products: Vec<f64> = products.collect();
    (!products.is_empty()).then(|| products.iter().sum())
}

#[cfg(test)]
mod tests;
