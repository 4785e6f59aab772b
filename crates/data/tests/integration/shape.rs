//! The shape of the rows of `sensors`, as docs/workloads.md describes it: synthetic ones next to
//! real ones.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use embermark_data::{lab, sample, synthetic};
use embermark_model::Reading;
use embermark_skips::{sampled, skipped};

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;

/// A line of the table: the name and number of the rows, their days from first to last, the days on
/// which a sensor has a row, and its rows on such a day. Then the shares of steps between readings
/// of a sensor that are up to a minute, more, over an hour and over a day.
fn line(name: &str, readings: &[Reading]) -> String {
    let mut sensors: BTreeMap<u16, Vec<i64>> = BTreeMap::new();
    for reading in readings {
        sensors.entry(reading.sensor).or_default().push(reading.ts);
    }
    let days: usize = sensors
        .values()
        .map(|times| times.iter().map(|ts| ts.div_euclid(DAY)).collect::<BTreeSet<_>>().len())
        .sum();
    let steps: Vec<i64> =
        sensors.values().flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0])).collect();
    let share = |of: &dyn Fn(i64) -> bool| {
        100.0 * steps.iter().filter(|step| of(**step)).count() as f64 / steps.len() as f64
    };
    let span = (readings[readings.len() - 1].ts - readings[0].ts) as f64 / DAY as f64;
    format!(
        "| {name} | {} | {span:.1} | {:.1} | {:.1} | {:.1} % | {:.1} % | {:.2} % | {:.2} % |",
        readings.len(),
        days as f64 / sensors.len() as f64,
        readings.len() as f64 / days as f64,
        share(&|step| step <= HOUR / 60),
        share(&|step| step > HOUR / 60 && step <= HOUR),
        share(&|step| step > HOUR && step <= DAY),
        share(&|step| step > DAY),
    )
}

#[test]
fn the_table_of_shapes_in_method_md_is_that_of_the_rows() {
    let mut lines = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let real = root.join("../shared/data/intel-lab/data-motes-55-58.txt");
    if real.exists() {
        let readings = lab::read(&real).unwrap().readings;
        lines.push(line("real: motes 55, 56, 58", &readings));
        lines.push(line("real, sampled", &sample::stratified(&readings, 1_000).unwrap()));
    } else {
        skipped("sensor log", format!("{} is not there", real.display()));
    }
    let whole = synthetic::generate(synthetic::WHOLE, 42).unwrap().readings;
    lines.push(line("synthetic, whole log", &whole));
    for rows in sampled([1_000, 10_000, 100_000, 1_000_000], 2) {
        let readings = synthetic::sampled(rows, 42).unwrap().readings;
        lines.push(line("synthetic, sampled", &readings));
    }
    let text = std::fs::read_to_string(root.join("docs/workloads.md")).unwrap();
    lines.retain(|line| !text.contains(line.as_str()));
    assert!(lines.is_empty(), "docs/workloads.md lacks\n{}", lines.join("\n"));
}
