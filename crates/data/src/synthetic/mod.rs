//! Readings made from a seed, shaped by what is known of the Intel Lab log.
//!
//! 54 motes take turns in epochs of 31 seconds; about half of the readings get lost, some are a
//! minute late, and now and then a mote falls silent for up to seven hours. Temperatures follow
//! the day, the weather and the mote's place (some places are above 25 °C on average); some
//! batteries fail on the way, from when on the mote reports 122.153 °C; one reading in 64 has a
//! NULL. The time that a log covers grows with its rows, at the pace of the real one, but even a
//! thousand rows have silences, failing batteries and NULLs.

mod climate;
mod converter;
mod mote;

use embermark_model::Reading;
use embermark_model::plan::Dataset;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use self::climate::Climate;
use self::mote::motes;
use crate::log::{OUT_OF_ORDER, SECOND, distinct_sensors, note, remarks};
use crate::{DataError, Log};

const MOTES: u16 = 54;
/// An epoch in microseconds.
const EPOCH: i64 = 31 * SECOND;
/// 2004-02-28 08:00 UTC, the day the real log begins; a short log is one of a day's hours.
const START: i64 = 1_077_955_200 * SECOND;

/// Makes exactly `rows` readings, in chronological order as [`crate::lab::read`] has them. The
/// same rows and seed give the same readings on every platform.
///
/// # Errors
/// [`DataError::Memory`] where there is no memory for so many rows.
pub fn generate(rows: u64, seed: u64) -> Result<Log, DataError> {
    let mut readings = Vec::new();
    let capacity = usize::try_from(rows).map_err(|_| DataError::Memory { rows })?;
    readings.try_reserve_exact(capacity).map_err(|_| DataError::Memory { rows })?;

    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut motes = motes(rows, &mut rng);
    let mut climate = Climate::new();
    let mut late = 0;
    for epoch in 0.. {
        if readings.len() == capacity {
            break;
        }
        let air = climate.advance((START + epoch * EPOCH) / SECOND, &mut rng);
        let progress = readings.len() as f64 / rows as f64;
        for mote in &mut motes {
            let Some(reading) = mote.reading(epoch, &air, progress, &mut rng) else { continue };
            late += u64::from(mote.is_late(reading.ts));
            arrive(&mut readings, reading);
            if readings.len() == capacity {
                break;
            }
        }
    }

    let mut remarks = remarks(&readings);
    note(&mut remarks, OUT_OF_ORDER, late);
    let dataset = Dataset {
        name: format!("synthetic (seed {seed})"),
        file: None,
        sha256: None,
        rows,
        sensors: distinct_sensors(&readings),
        dropped: Default::default(),
        remarks,
    };
    Ok(Log { readings, dataset })
}

/// Puts a reading at its place in time: at or near the end, since few are late, and by no more
/// than two epochs.
#[inline]
fn arrive(readings: &mut Vec<Reading>, reading: Reading) {
    readings.push(reading);
    let mut place = readings.len() - 1;
    while place > 0 && readings[place - 1].ts > reading.ts {
        readings.swap(place - 1, place);
        place -= 1;
    }
}

/// A number from 0 up to 1 of the high bits of `bits`.
#[inline]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
