//! Samples as bytes, and as JSON text.

use embermark_contract::Result;
use embermark_data::machine::{CHANNELS, Sample, Stamp, Values};
use serde::Deserialize;

use super::machine_log::broken;

/// Length of the key of a second, in bytes.
pub(super) const SECOND: usize = 8;
/// Length of the key of a stamp, in bytes.
pub(super) const STAMP: usize = 12;
/// Length of the values of a sample, in bytes.
pub(super) const VALUES: usize = 2 * CHANNELS;
/// Length of a sample within a second, in bytes: its nanoseconds and its values.
pub(super) const PART: usize = 4 + VALUES;

/// Returns the second of a key.
pub(super) fn second(key: &[u8]) -> Result<i64> {
    let bytes = key.try_into().map_err(|_| broken(format_args!("a key of {} bytes", key.len())))?;
    Ok(i64::from_be_bytes(bytes) ^ i64::MIN)
}

/// Returns a stamp as bytes that sort as stamps do.
pub(super) fn stamp_key(at: Stamp) -> [u8; STAMP] {
    let mut key = [0; STAMP];
    key[..8].copy_from_slice(&(at.s ^ i64::MIN).to_be_bytes());
    key[8..].copy_from_slice(&at.ns.cast_unsigned().to_be_bytes());
    key
}

/// Returns the stamp of a key.
pub(super) fn stamp(key: &[u8]) -> Result<Stamp> {
    let (s, ns) = key
        .split_at_checked(8)
        .ok_or_else(|| broken(format_args!("a key of {} bytes", key.len())))?;
    let ns = ns.try_into().map_err(|_| broken(format_args!("a key of {} bytes", key.len())))?;
    Ok(Stamp { s: second(s)?, ns: i32::from_be_bytes(ns) })
}

/// Encodes values as bytes.
pub(super) fn values_bytes(values: &Values) -> [u8; VALUES] {
    let mut bytes = [0; VALUES];
    for (place, value) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(values) {
        *place = value.to_le_bytes();
    }
    bytes
}

/// Decodes values.
pub(super) fn values(bytes: &[u8]) -> Result<Values> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    match (<&[[u8; 2]; CHANNELS]>::try_from(pairs), rest) {
        (Ok(pairs), []) => Ok(pairs.map(u16::from_le_bytes)),
        _ => Err(broken(format_args!("values of {} bytes", bytes.len()))),
    }
}

/// Encodes the samples of a second as bytes: nanoseconds and values of each.
pub(super) fn pack(samples: &[Sample], into: &mut Vec<u8>) {
    into.clear();
    for sample in samples {
        into.extend_from_slice(&sample.at.ns.to_le_bytes());
        into.extend_from_slice(&values_bytes(&sample.values));
    }
}

/// Visits the samples of a second's bytes.
pub(super) fn unpack(s: i64, bytes: &[u8], mut visit: impl FnMut(Sample)) -> Result<()> {
    let (parts, rest) = bytes.as_chunks::<PART>();
    if !rest.is_empty() {
        return Err(broken(format_args!("a second of {} bytes", bytes.len())));
    }
    for part in parts {
        let ns = i32::from_le_bytes([part[0], part[1], part[2], part[3]]);
        visit(Sample { at: Stamp { s, ns }, values: values(&part[4..])? });
    }
    Ok(())
}

/// Writes the samples of a second as JSON: a list of lists of the nanoseconds and the five values.
pub(super) fn write_json(samples: &[Sample], into: &mut String) {
    into.clear();
    let mut number = itoa::Buffer::new();
    for sample in samples {
        into.push_str(if into.is_empty() { "[[" } else { ",[" });
        into.push_str(number.format(sample.at.ns));
        for value in sample.values {
            into.push(',');
            into.push_str(number.format(value));
        }
        into.push(']');
    }
    into.push_str(if into.is_empty() { "[]" } else { "]" });
}

/// Visits the samples of a second's JSON.
pub(super) fn read_json(s: i64, text: &str, mut visit: impl FnMut(Sample)) -> Result<()> {
    let parts: Vec<[u32; 1 + CHANNELS]> = serde_json::from_str(text).map_err(broken)?;
    parts.into_iter().try_for_each(|[ns, values @ ..]| {
        visit(part(s, ns, values)?);
        Ok(())
    })
}

/// Writes the samples of a second as the JSON of the workload's source (listing 2).
pub(super) fn write_published_json(samples: &[Sample], into: &mut String) {
    into.clear();
    into.push_str("{\"measurements\":[");
    let mut number = itoa::Buffer::new();
    for (place, sample) in samples.iter().enumerate() {
        into.push_str(if place == 0 { "{\"ns\":" } else { ",{\"ns\":" });
        into.push_str(number.format(sample.at.ns));
        into.push_str(",\"m\":");
        for (channel, value) in sample.values.into_iter().enumerate() {
            into.push(if channel == 0 { '[' } else { ',' });
            into.push_str(number.format(value));
        }
        into.push_str("]}");
    }
    into.push_str("]}");
}

/// Visits the samples in JSON written by [`write_published_json`].
pub(super) fn read_published_json(s: i64, text: &str, mut visit: impl FnMut(Sample)) -> Result<()> {
    #[derive(Deserialize)]
    struct Second {
        measurements: Vec<Part>,
    }
    #[derive(Deserialize)]
    struct Part {
        ns: u32,
        m: [u32; CHANNELS],
    }
    let second: Second = serde_json::from_str(text).map_err(broken)?;
    second.measurements.into_iter().try_for_each(|Part { ns, m }| {
        visit(part(s, ns, m)?);
        Ok(())
    })
}

/// Converts the numbers of a JSON sample.
fn part(s: i64, ns: u32, wide: [u32; CHANNELS]) -> Result<Sample> {
    let wrong = |_| broken(format_args!("{ns} ns with values {wide:?} is not a valid sample"));
    let at = Stamp { s, ns: i32::try_from(ns).map_err(wrong)? };
    let mut values = Values::default();
    for (narrow, wide) in values.iter_mut().zip(wide) {
        *narrow = u16::try_from(wide).map_err(wrong)?;
    }
    Ok(Sample { at, values })
}

#[cfg(test)]
mod tests {
    use embermark_data::machine::History;

    use super::*;

    #[test]
    fn every_sample_comes_back_from_its_bytes_and_its_json() {
        let samples: Vec<Sample> = History::new(3, 1_000, 1_000).samples().collect();
        let (mut bytes, mut text) = (Vec::new(), String::new());
        for some in [&samples[..], &samples[..1], &[]] {
            let (mut unpacked, mut read) = (Vec::new(), Vec::new());
            pack(some, &mut bytes);
            unpack(History::BEGIN.s, &bytes, |sample| unpacked.push(sample)).unwrap();
            write_json(some, &mut text);
            read_json(History::BEGIN.s, &text, |sample| read.push(sample)).unwrap();
            assert_eq!((&unpacked[..], &read[..]), (some, some));
            read.clear();
            write_published_json(some, &mut text);
            read_published_json(History::BEGIN.s, &text, |sample| read.push(sample)).unwrap();
            assert_eq!(read, some);
        }
        for sample in samples {
            assert_eq!(stamp(&stamp_key(sample.at)).unwrap(), sample.at);
            assert_eq!(values(&values_bytes(&sample.values)).unwrap(), sample.values);
        }
    }

    #[test]
    fn keys_have_the_order_of_their_times() {
        let stamps = [(i64::MIN, 0), (-1, 999_999_999), (0, 0), (0, 1), (1, 0), (i64::MAX, 5)];
        let keys = stamps.map(|(s, ns)| stamp_key(Stamp { s, ns }));
        assert!(keys.is_sorted(), "{keys:?}");
    }

    #[test]
    fn what_is_no_sample_is_an_error_and_never_one() {
        assert!(unpack(0, &[0; PART + 1], |_| ()).is_err());
        assert!(values(&[0; 9]).is_err() && stamp(&[0; 11]).is_err() && second(&[]).is_err());
        for text in
            ["", "[[1,2,3,4,5]]", "[[1,2,3,4,5,70000]]", "[[-1,2,3,4,5,6]]", "[[1,2,3,4,5,6]"]
        {
            assert!(read_json(0, text, |_| ()).is_err(), "{text}");
        }
        for part in ["", "{\"ns\":1,\"m\":[1,2,3,4]}", "{\"ns\":-1,\"m\":[1,2,3,4,5]}"] {
            let text = format!("{{\"measurements\":[{part}]}}");
            let read = read_published_json(0, &text, |_| ());
            assert_eq!(read.is_ok(), part.is_empty(), "{text}");
        }
    }

    #[test]
    fn the_json_of_the_source_is_written_as_it_prints_it() {
        let sample = |ns, values| Sample { at: Stamp { s: 0, ns }, values };
        let samples = [
            sample(346_851_124, [389, 792, 602, 315, 552]),
            sample(346_933_204, [516, 794, 634, 317, 559]),
        ];
        let mut text = String::new();
        write_published_json(&samples, &mut text);
        let printed = r#"{"measurements":[{"ns":346851124,"m":[389,792,602,315,552]},{"ns":346933204,"m":[516,794,634,317,559]}]}"#;
        assert_eq!(text, printed);
    }
}
