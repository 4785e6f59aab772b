//! Readings as pairs of bytes.
//!
//! Key: sensor u16 big-endian, then ts i64 big-endian with its sign bit flipped, so that keys
//! order as bytes as they do by sensor and time. Value: a bitmap of the columns present, then the
//! four values as f64 little-endian, 0 where absent.

use embermark_model::{Key, Reading};

/// A stored key.
pub(super) type KeyBytes = [u8; 10];

/// A stored value.
pub(super) type ValueBytes = [u8; 33];

const SIGN: u64 = 1 << 63;

/// What a pair of another shape decodes to: a reading that no log holds, so that it shows as a
/// wrong answer and not as a failure.
const DAMAGED: u16 = u16::MAX;

#[inline]
pub(super) const fn encode_key(key: Key) -> KeyBytes {
    let [a, b] = key.sensor.to_be_bytes();
    let [c, d, e, f, g, h, i, j] = (key.ts as u64 ^ SIGN).to_be_bytes();
    [a, b, c, d, e, f, g, h, i, j]
}

#[inline]
pub(super) fn decode_key(bytes: &[u8]) -> Key {
    match *bytes {
        [a, b, c, d, e, f, g, h, i, j] => Key {
            sensor: u16::from_be_bytes([a, b]),
            ts: (u64::from_be_bytes([c, d, e, f, g, h, i, j]) ^ SIGN) as i64,
        },
        _ => Key { sensor: DAMAGED, ts: i64::MIN },
    }
}

#[inline]
pub(super) fn encode_value(reading: &Reading) -> ValueBytes {
    let mut bytes = [0; size_of::<ValueBytes>()];
    let (bitmap, values) = bytes.split_at_mut(1);
    bitmap[0] = reading.present as u8;
    for (slot, value) in values.as_chunks_mut().0.iter_mut().zip(reading.values) {
        *slot = value.to_le_bytes();
    }
    bytes
}

#[inline]
pub(super) fn decode(key: Key, bytes: &[u8]) -> Reading {
    let mut reading = Reading { sensor: key.sensor, ts: key.ts, ..Reading::default() };
    match <&ValueBytes>::try_from(bytes) {
        Ok([bitmap, values @ ..]) => {
            reading.present = u16::from(*bitmap);
            for (slot, value) in reading.values.iter_mut().zip(values.as_chunks().0) {
                *slot = f64::from_le_bytes(*value);
            }
        }
        Err(_) => reading.present = DAMAGED,
    }
    reading
}

/// The temperature in a stored value.
#[inline]
pub(super) fn temperature(bytes: &[u8]) -> Option<f64> {
    match bytes.split_first_chunk() {
        Some(([bitmap], values)) if bitmap >> Reading::TEMPERATURE & 1 == 1 => {
            values.first_chunk().map(|value| f64::from_le_bytes(*value))
        }
        _ => None,
    }
}

/// Sets the temperature in a stored value.
#[inline]
pub(super) fn set_temperature(bytes: &mut [u8], temperature: f64) {
    if let Ok([bitmap, values @ ..]) = <&mut ValueBytes>::try_from(bytes) {
        *bitmap |= 1 << Reading::TEMPERATURE;
        values[..size_of::<f64>()].copy_from_slice(&temperature.to_le_bytes());
    }
}

/// The lowest keys of a sensor and of the next one; `None` after the last sensor there can be.
pub(super) fn bounds(sensor: u16) -> (KeyBytes, Option<KeyBytes>) {
    let lowest = |sensor| encode_key(Key { sensor, ts: i64::MIN });
    (lowest(sensor), sensor.checked_add(1).map(lowest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_bytes_as_they_do_by_sensor_and_time() {
        let keys = [
            (0, i64::MIN),
            (0, -1),
            (0, 0),
            (0, 255),
            (0, 256),
            (0, i64::MAX),
            (1, -5),
            (255, 7),
            (256, i64::MIN),
            (65_535, 3),
        ]
        .map(|(sensor, ts)| Key { sensor, ts });
        assert!(keys.map(encode_key).is_sorted());
        assert_eq!(keys.map(|key| decode_key(&encode_key(key))), keys);
    }

    #[test]
    fn every_pattern_of_nulls_survives_the_way_there_and_back() {
        let key = Key { sensor: 54, ts: 1_077_926_336_028_590 };
        for pattern in 0_u16..16 {
            let values = [19.9884, -4.0, 45.08, 2.69964];
            let mut column = 0;
            let reading = Reading::new(
                key,
                values.map(|value| {
                    column += 1;
                    (pattern >> (column - 1) & 1 == 1).then_some(value)
                }),
            );
            let bytes = encode_value(&reading);
            assert_eq!(decode(key, &bytes), reading);
            assert_eq!(temperature(&bytes), reading.temperature());

            let (mut changed, mut bytes) = (reading, bytes);
            changed.set(Reading::TEMPERATURE, Some(-1.5));
            set_temperature(&mut bytes, -1.5);
            assert_eq!(decode(key, &bytes), changed);
        }
    }

    #[test]
    fn a_pair_of_another_shape_decodes_to_no_reading_that_could_be_stored() {
        let key = Key { sensor: 1, ts: 2 };
        let stored = encode_value(&Reading::new(key, [Some(1.0); 4]));
        assert_ne!(decode(key, &stored[..32]).present & !0xf, 0);
        assert_eq!(decode_key(&[0; 9]).ts, i64::MIN);
        assert_eq!(temperature(&[]), None);
    }
}
