//! A row of the `sensors` workload.

use bytemuck::{Pod, Zeroable};

/// Primary key of a reading, ordered as engines order it: by sensor, then by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Sensor (mote) number.
    pub sensor: u16,
    /// Microseconds since 1970-01-01 UTC.
    pub ts: i64,
}

/// One measurement of one sensor. 48 bytes, so that a million fit in 48 MB and a file of them can
/// be memory-mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Reading {
    /// Microseconds since 1970-01-01 UTC.
    pub ts: i64,
    /// Temperature (°C), humidity (%), light (lux), voltage (V). 0 if absent: see [`Reading::get`].
    pub values: [f64; 4],
    /// Sensor (mote) number.
    pub sensor: u16,
    /// Bit i is set if `values[i]` is present (not NULL).
    pub present: u16,
    /// Always zero.
    pub padding: u32,
}

impl Reading {
    /// Index of the temperature in [`Reading::values`].
    pub const TEMPERATURE: usize = 0;
    /// Index of the humidity.
    pub const HUMIDITY: usize = 1;
    /// Index of the light.
    pub const LIGHT: usize = 2;
    /// Index of the voltage.
    pub const VOLTAGE: usize = 3;
    /// Column names, in the order of [`Reading::values`].
    pub const COLUMNS: [&'static str; 4] = ["temperature", "humidity", "light", "voltage"];

    /// Makes a reading. `None` is NULL.
    pub fn new(key: Key, values: [Option<f64>; 4]) -> Self {
        let mut reading = Self { ts: key.ts, sensor: key.sensor, ..Self::default() };
        for (i, value) in values.into_iter().enumerate() {
            reading.set(i, value);
        }
        reading
    }

    /// Returns the primary key.
    #[inline]
    pub const fn key(&self) -> Key {
        Key { sensor: self.sensor, ts: self.ts }
    }

    /// Returns value `i`, or `None` for NULL.
    #[inline]
    pub fn get(&self, i: usize) -> Option<f64> {
        (self.present >> i & 1 == 1).then(|| self.values[i])
    }

    /// Sets value `i`. `None` is NULL.
    #[inline]
    pub fn set(&mut self, i: usize, value: Option<f64>) {
        self.values[i] = value.unwrap_or(0.0);
        self.present = self.present & !(1 << i) | u16::from(value.is_some()) << i;
    }

    /// Returns the temperature in °C.
    #[inline]
    pub fn temperature(&self) -> Option<f64> {
        self.get(Self::TEMPERATURE)
    }
}
