//! A simulated mote: its location, its battery, and its silences.

use embermark_model::{Key, Reading};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use super::climate::Air;
use super::converter::{self, SATURATED, WEAK};
use super::{EPOCH, MOTES, START};
use crate::draw::unit;

/// Shortest and longest silence of a mote in epochs: 40 minutes and 7 hours.
const OUTAGE: (f64, f64) = (78.0, 813.0);
/// Smallest and largest average number of readings between two silences.
const STRETCH: (u64, u64) = (4, 4_000);
/// The low bits of a time contain its epoch, so that no two readings of a mote have the same time:
/// the longest delay is shorter than the epochs that fit in them.
const EPOCH_BITS: i64 = 128 - 1;
/// Column that is NULL in a reading with a NULL, by three random bits.
const NULL_COLUMNS: [usize; 8] = [
    Reading::TEMPERATURE,
    Reading::HUMIDITY,
    Reading::HUMIDITY,
    Reading::LIGHT,
    Reading::LIGHT,
    Reading::LIGHT,
    Reading::VOLTAGE,
    Reading::VOLTAGE,
];

#[derive(Clone, Debug)]
pub(super) struct Mote {
    pub(super) sensor: u16,
    /// Microseconds from the beginning of an epoch to this mote's turn.
    pub(super) phase: i64,
    /// Number of readings out of 2^32 that arrive.
    arrival: u64,
    /// °C above the building's average, and the share of its daily cycle that is felt here.
    warmth: f64,
    swing: f64,
    /// Humidity above the building's average in %.
    dampness: f64,
    /// Light steps by day and by night.
    brightness: f64,
    night_brightness: f64,
    /// Voltage step at the beginning, and number of steps lost over the whole log.
    battery: f64,
    drain: f64,
    /// Average number of readings between two silences.
    stretch: u64,
    /// Number of readings before the next silence, and the epoch at which it ends.
    left: u64,
    awake_from: i64,
    /// Time of the latest reading.
    latest: i64,
}

/// Makes the motes of one log, in the order of their turns in an epoch.
pub(super) fn motes(rows: u64, rng: &mut Xoshiro256PlusPlus) -> Vec<Mote> {
    let (warm, weak) = (rng.next_u64() % 7, rng.next_u64() % 4);
    let stretch = (rows / u64::from(MOTES) * 3 / 5).clamp(STRETCH.0, STRETCH.1);
    let mut motes: Vec<_> = (1..=MOTES)
        .map(|sensor| {
            let is = |of: u64, chosen: u64| u64::from(sensor) % of == chosen;
            let mut between = |from: f64, to: f64| from + (to - from) * unit(rng.next_u64());
            let battery = between(200.0, 213.0);
            // A weak battery crosses the limit during the log, a good one never.
            let drain = if is(4, weak) {
                (f64::from(WEAK) - battery) / between(0.35, 0.97)
            } else {
                between(6.0, 28.0)
            };
            Mote {
                sensor,
                phase: between(0.0, 28e6) as i64,
                arrival: (between(0.25, 0.65) * 4_294_967_296.0) as u64,
                warmth: if is(7, warm) { between(6.0, 9.0) } else { between(-2.0, 2.5) },
                swing: between(0.6, 1.4),
                dampness: between(-4.0, 4.0),
                brightness: between(150.0, 1_600.0),
                night_brightness: between(0.0, 6.0),
                battery,
                drain,
                stretch,
                left: 1 + rng.next_u64() % (2 * stretch),
                awake_from: 0,
                latest: i64::MIN,
            }
        })
        .collect();
    motes.sort_by_key(|mote| mote.phase);
    motes
}

impl Mote {
    /// Returns the key of an epoch's reading and the random bits to [measure](Self::measure) it
    /// with. `None` if the mote is silent or the reading is lost.
    #[inline]
    pub(super) fn turn(&mut self, epoch: i64, rng: &mut Xoshiro256PlusPlus) -> Option<(Key, u64)> {
        if epoch < self.awake_from {
            return None;
        }
        let bits = rng.next_u64();
        if bits & 0xffff_ffff >= self.arrival {
            return None;
        }
        self.left -= 1;
        if self.left == 0 {
            self.fall_silent(epoch, rng);
        }
        // There is always a jitter of a second. Sometimes a packet takes a minute to arrive.
        let mut delay = (bits >> 32 & 0xf_ffff) as i64;
        if bits >> 52 & 0xff == 0 {
            delay += (rng.next_u64() >> 38) as i64;
        }
        let time = START + epoch * EPOCH + self.phase + delay;
        let key = Key { sensor: self.sensor, ts: time & !EPOCH_BITS | epoch & EPOCH_BITS };
        Some((key, rng.next_u64()))
    }

    /// Records the time of a reading. Returns whether it is before the previous one.
    pub(super) fn is_late(&mut self, ts: i64) -> bool {
        let late = ts < self.latest;
        self.latest = ts;
        late
    }

    #[cold]
    fn fall_silent(&mut self, epoch: i64, rng: &mut Xoshiro256PlusPlus) {
        let share = unit(rng.next_u64());
        // Squared: short silences are more frequent than long ones.
        self.awake_from = epoch + (OUTAGE.0 + share * share * (OUTAGE.1 - OUTAGE.0)) as i64;
        self.left = 1 + rng.next_u64() % (2 * self.stretch);
    }

    /// Returns the reading with that key. `progress` goes from 0 at the beginning of the log to 1 at
    /// its end.
    #[inline]
    pub(super) fn measure(&self, key: Key, air: &Air, progress: f64, bits: u64) -> Reading {
        let noise = |at: u32| (bits >> at & 0xfff) as f64 / 4_096.0;
        let step = self.battery + self.drain * progress + (bits >> 48 & 3) as f64 / 4.0;
        let voltage = step as i32;
        let (temperature, humidity) = if voltage >= WEAK {
            (SATURATED, 2)
        } else {
            let mut celsius =
                20.5 + self.warmth + self.swing * air.warmth + 0.6 * (noise(0) + noise(12) - 1.0);
            if bits >> 59 == 0 {
                // Sun on the mote, a hand around it.
                celsius += 1.5 + 4.0 * noise(24);
            }
            let percent = 40.0 + self.dampness - 1.5 * (celsius - 20.5 - self.warmth) + noise(24);
            (converter::temperature_step(celsius), converter::humidity_step(percent))
        };
        let light = self.night_brightness
            + self.brightness * air.daylight * (0.75 + 0.5 * noise(36))
            + 2.0 * noise(24);
        let mut reading = Reading {
            ts: key.ts,
            values: [
                converter::temperature(temperature),
                converter::humidity(humidity),
                converter::light(light as i32),
                converter::voltage(voltage),
            ],
            sensor: key.sensor,
            present: 0b1111,
            padding: 0,
        };
        if bits >> 50 & 63 == 0 {
            reading.set(NULL_COLUMNS[(bits >> 56 & 7) as usize], None);
        }
        reading
    }
}
