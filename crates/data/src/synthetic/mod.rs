//! Readings generated from a seed, with the known properties of the Intel Lab log.
//!
//! 54 motes take turns in epochs of 31 seconds. About half of the readings are lost, some are a
//! minute late, and sometimes a mote is silent for up to seven hours. Temperatures follow the day,
//! the weather and the mote's location (some locations are above 25 °C on average). Some batteries
//! fail during the log, and the mote then reports 122.153 °C. One reading in 64 has a NULL. The
//! time that a log covers grows with its rows, at the rate of the real one. Fewer rows than the
//! real log has are a sample of a log of its length.

mod climate;
mod converter;
mod mote;

use embermark_model::plan::Dataset;
use embermark_model::{Key, Reading};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use self::climate::{Air, Climate};
use self::mote::{Mote, motes};
use crate::log::{OUT_OF_ORDER, SECOND, add_count, distinct_sensors, remarks};
use crate::{DataError, Log, sample};

const MOTES: u16 = 54;
/// Length of an epoch in microseconds.
const EPOCH: i64 = 31 * SECOND;
/// 2004-02-28 08:00 UTC, on the day the real log begins. A short log covers daytime hours.
const START: i64 = 1_077_955_200 * SECOND;

/// Number of rows of the published log with the number of one of its 54 motes. They cover 38 days.
pub const WHOLE: u64 = 2_303_290;

/// Generates exactly `rows` readings in chronological order, like [`crate::lab::read`]: a log from
/// its first row on. The same rows and seed give the same readings on every platform.
///
/// # Errors
/// [`DataError::Memory`] if there is not enough memory for the rows.
pub fn generate(rows: u64, seed: u64) -> Result<Log, DataError> {
    let mut readings = reserved(rows)?;
    let mut late = 0;
    for_each_arrival(rows, seed, |arrived, is_late| {
        late += u64::from(is_late);
        insert_by_time(&mut readings, arrived.reading(), |reading| reading.ts);
    });
    Ok(log(readings, late, format!("synthetic (seed {seed})")))
}

/// Generates exactly `rows` readings like the published comparison: [sampled](crate::sample) from a
/// log of [`WHOLE`] rows, so that few rows cover as many days as all. For more rows it is a longer
/// log, as [`generate`] makes it.
///
/// # Errors
/// [`DataError::Memory`] if there is not enough memory for the rows.
pub fn sampled(rows: u64, seed: u64) -> Result<Log, DataError> {
    if rows >= WHOLE {
        return generate(rows, seed);
    }
    // Goes through the log twice. A small machine then need not hold rows that are not selected,
    // and no machine computes their values.
    let mut times = vec![Vec::new(); MOTES.into()];
    for_each_arrival(WHOLE, seed, |arrived, _| {
        insert_by_time(&mut times[arrived.mote()], arrived.key.ts, |time| *time)
    });
    let chosen = sample::times(times, usize::try_from(rows).unwrap_or(usize::MAX));
    let mut readings = reserved(rows)?;
    let mut late = 0;
    for_each_arrival(WHOLE, seed, |arrived, is_late| {
        if chosen[arrived.mote()].binary_search(&arrived.key.ts).is_ok() {
            late += u64::from(is_late);
            insert_by_time(&mut readings, arrived.reading(), |reading| reading.ts);
        }
    });
    Ok(log(readings, late, format!("synthetic (seed {seed}), sampled from {WHOLE} rows")))
}

fn reserved(rows: u64) -> Result<Vec<Reading>, DataError> {
    let mut readings = Vec::new();
    let capacity = usize::try_from(rows).map_err(|_| DataError::Memory(rows))?;
    readings.try_reserve_exact(capacity).map_err(|_| DataError::Memory(rows))?;
    Ok(readings)
}

fn log(readings: Vec<Reading>, late: u64, name: String) -> Log {
    let mut remarks = remarks(&readings);
    add_count(&mut remarks, OUT_OF_ORDER, late);
    let dataset = Dataset {
        name,
        rows: readings.len() as u64,
        sensors: distinct_sensors(&readings),
        remarks,
        ..Dataset::default()
    };
    Log { readings, dataset }
}

/// Calls `take` for every reading that arrives in a log of `rows`, in the order of epochs. Its
/// second argument is whether the reading is out of time order within its mote.
fn for_each_arrival(rows: u64, seed: u64, mut take: impl FnMut(ArrivedReading<'_>, bool)) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut motes = motes(rows, &mut rng);
    let mut climate = Climate::new();
    let mut made = 0;
    for epoch in 0.. {
        if made == rows {
            break;
        }
        let air = climate.advance((START + epoch * EPOCH) / SECOND, &mut rng);
        let progress = made as f64 / rows as f64;
        for mote in &mut motes {
            let Some((key, bits)) = mote.turn(epoch, &mut rng) else { continue };
            let is_late = mote.is_late(key.ts);
            take(ArrivedReading { key, bits, by: mote, air: &air, progress }, is_late);
            made += 1;
            if made == rows {
                break;
            }
        }
    }
}

/// A reading that arrived. Only its key has been computed yet.
struct ArrivedReading<'a> {
    key: Key,
    bits: u64,
    by: &'a Mote,
    air: &'a Air,
    progress: f64,
}

impl ArrivedReading<'_> {
    /// Returns the index of its mote, from 0.
    fn mote(&self) -> usize {
        usize::from(self.key.sensor) - 1
    }

    fn reading(&self) -> Reading {
        self.by.measure(self.key, self.air, self.progress, self.bits)
    }
}

/// Inserts an item in time order. Its position is at or near the end, because few items are late,
/// and by at most two epochs.
#[inline]
fn insert_by_time<T>(all: &mut Vec<T>, one: T, time: impl Fn(&T) -> i64) {
    all.push(one);
    let mut place = all.len() - 1;
    while place > 0 && time(&all[place - 1]) > time(&all[place]) {
        all.swap(place - 1, place);
        place -= 1;
    }
}
