//! Synthetic rows: exact counts, one log per seed, and the shape of the real log.
use std::collections::{BTreeMap, HashSet};

use embermark_data::{Log, sample, synthetic};
use embermark_model::Reading;
use embermark_skips::sampled;

const HOUR: i64 = 3_600_000_000;

fn generate(rows: u64, seed: u64) -> Log {
    synthetic::generate(rows, seed).unwrap()
}

fn by_sensor(readings: &[Reading]) -> BTreeMap<u16, Vec<&Reading>> {
    let mut sensors: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for reading in readings {
        sensors.entry(reading.sensor).or_default().push(reading);
    }
    sensors
}

fn gaps(readings: &[Reading]) -> Vec<i64> {
    by_sensor(readings)
        .values()
        .flat_map(|rows| rows.windows(2).map(|pair| pair[1].ts - pair[0].ts))
        .collect()
}

fn mean_temperatures(readings: &[Reading]) -> BTreeMap<u16, (f64, usize)> {
    let mean = |rows: Vec<&Reading>| {
        let temperatures: Vec<_> = rows.iter().filter_map(|row| row.temperature()).collect();
        (temperatures.iter().sum::<f64>() / temperatures.len() as f64, temperatures.len())
    };
    by_sensor(readings).into_iter().map(|(sensor, rows)| (sensor, mean(rows))).collect()
}

#[test]
fn any_number_of_rows_is_met_exactly_in_time_order_with_distinct_keys() {
    for rows in [0, 1, 2, 53, 54, 55, 999, 1_000, 10_000, 123_457] {
        let log = generate(rows, 42);
        assert_eq!(log.readings.len() as u64, rows);
        assert_eq!(log.dataset.rows, rows);
        assert!(log.readings.is_sorted_by_key(|reading| reading.ts));
        let keys: HashSet<_> = log.readings.iter().map(Reading::key).collect();
        assert_eq!(keys.len() as u64, rows);
    }
}

#[test]
fn one_seed_gives_one_log_and_another_seed_another() {
    assert!(generate(5_000, 7) == generate(5_000, 7));
    assert!(generate(5_000, 7).readings != generate(5_000, 8).readings);
    assert_eq!(generate(5_000, 7).dataset.name, "synthetic (seed 7)");
}

/// 64 bits that combine key, NULLs and values of a reading, by the mixing step of wyhash.
fn fingerprint(reading: &Reading) -> u64 {
    let fold = |a: u64, b: u64| {
        let wide = u128::from(a) * u128::from(b);
        (wide as u64) ^ ((wide >> 64) as u64)
    };
    let [a, b, c, d] = reading.values.map(|value| (value + 0.0).to_bits());
    let head = u64::from(reading.sensor) << 16 | u64::from(reading.present);
    let left = fold(a ^ 0xa076_1d64_78bd_642f, b ^ 0xe703_7ed1_a0b4_28db);
    let right = fold(c ^ 0x8ebc_6af0_9c88_c6e3, d ^ 0x5899_65cc_7537_4cc3);
    let key = fold(reading.ts as u64 ^ 0x1d8e_4e27_c47d_124f, head ^ 0xeb44_acca_b455_d165);
    fold(left ^ key, right.rotate_left(32) ^ key.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

#[test]
fn the_rows_of_a_seed_are_the_same_on_every_platform_and_in_every_version() {
    let rows = generate(100_000, 42).readings;
    let sum = rows.iter().map(fingerprint).fold(0, u64::wrapping_add);
    assert_eq!((rows.len(), sum), (100_000, 3_680_469_368_280_140_645));
}

#[test]
fn fewer_rows_than_the_real_log_has_are_as_many_days_and_drawn_as_published() {
    let whole = generate(synthetic::WHOLE, 42).readings;
    let ends = |readings: &[Reading]| {
        let of = |rows: &Vec<&Reading>| (rows[0].ts, rows[rows.len() - 1].ts);
        by_sensor(readings).into_iter().map(|(id, rows)| (id, of(&rows))).collect::<Vec<_>>()
    };
    for rows in sampled([1_000, 10_000, 123_457], 1) {
        let sample = synthetic::sampled(rows as u64, 42).unwrap();
        assert!(sample.readings == sample::stratified(&whole, rows).unwrap(), "{rows} rows");
        assert_eq!(ends(&sample.readings), ends(&whole), "each sensor's first and last row");
        assert_eq!((sample.dataset.rows, sample.dataset.sensors), (rows as u64, 54));
    }
    let days = (whole[whole.len() - 1].ts - whole[0].ts) / (24 * HOUR);
    assert!((34..=40).contains(&days), "{days} days: the real log has 38");
    let longer = synthetic::WHOLE + 1_000;
    assert!(synthetic::sampled(longer, 42).unwrap() == generate(longer, 42));
}

#[test]
fn a_thousand_rows_already_have_every_kind_of_answer() {
    for seed in 0..100 {
        let log = generate(1_000, seed);
        assert_eq!(log.dataset.sensors, 54, "seed {seed}");
        let gaps = gaps(&log.readings);
        let outages = gaps.iter().filter(|&&gap| gap > HOUR).count();
        assert!(
            outages >= 5 && outages * 4 < gaps.len(),
            "seed {seed}: {outages} outages in {}",
            gaps.len()
        );

        let means = mean_temperatures(&log.readings);
        let hot = means.values().filter(|&&(mean, rows)| mean > 25.0 && rows >= 10).count();
        assert!((1..40).contains(&hot), "seed {seed}: {hot} hot sensors");

        let anomalies = anomalies(&log.readings);
        assert!(anomalies > 0 && anomalies < 100, "seed {seed}: {anomalies} anomalies");
        assert!(log.dataset.remarks["temperature 122.153: failing battery"] > 5, "seed {seed}");
        assert!(log.dataset.remarks.keys().any(|key| key.starts_with("NULL")), "seed {seed}");
    }
}

fn anomalies(readings: &[Reading]) -> usize {
    let mut count = 0;
    for rows in by_sensor(readings).values() {
        let values: Vec<_> = rows.iter().filter_map(|row| row.temperature()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (values.len() as f64 - 1.0)).sqrt();
        count += values.iter().filter(|&value| (value - mean).abs() > 2.0 * deviation).count();
    }
    count
}

#[test]
fn the_shape_is_that_of_the_real_log() {
    let log = generate(300_000, 3);
    let days = (log.readings[299_999].ts - log.readings[0].ts) / (24 * HOUR);
    // The real log: 2.3 million rows in 38 days.
    assert!((3..=9).contains(&days), "{days} days");
    let remarks = &log.dataset.remarks;
    let saturated = remarks["temperature 122.153: failing battery"];
    assert!((10_000..60_000).contains(&saturated), "{saturated}");
    assert!(remarks["row out of time order within its sensor"] > 10);
    for column in Reading::COLUMNS {
        let nulls = remarks[&format!("NULL {column}")];
        assert!((300..4_000).contains(&nulls), "{nulls} NULLs in {column}");
    }
    for reading in &log.readings {
        let weak = reading.get(Reading::VOLTAGE).map(|voltage| voltage < 2.4);
        if let (Some(weak), Some(temperature)) = (weak, reading.temperature()) {
            assert_eq!(weak, temperature == 122.153, "{reading:?}");
        }
        for value in (0..4).filter_map(|column| reading.get(column)) {
            assert_eq!(format!("{value:.5e}").parse::<f64>(), Ok(value), "six digits at most");
        }
    }
}

#[test]
fn days_are_warmer_and_brighter_than_nights() {
    let log = generate(300_000, 3);
    let mean = |column: usize, hour: i64| {
        let of_the_hour =
            |r: &&Reading| r.ts / HOUR % 24 == hour && r.temperature() != Some(122.153);
        let values: Vec<_> =
            log.readings.iter().filter(of_the_hour).filter_map(|r| r.get(column)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    assert!(mean(Reading::TEMPERATURE, 15) > mean(Reading::TEMPERATURE, 3) + 3.0);
    assert!(mean(Reading::LIGHT, 13) > 10.0 * mean(Reading::LIGHT, 1));
    assert!(mean(Reading::HUMIDITY, 15) < mean(Reading::HUMIDITY, 3));
}

#[test]
fn more_rows_than_memory_are_refused() {
    let error = synthetic::generate(u64::MAX, 1).unwrap_err();
    assert!(error.to_string().contains("smaller scale"), "{error}");
}
