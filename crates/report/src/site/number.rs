//! Numbers in the data of the site: five significant digits, in as few characters as possible.

use serde::{Serialize, Serializer};

use crate::format::five_digits;

/// A number of five significant digits. Serialized as null if it is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Rounded", type = "number"))]
pub(super) struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        /// From this value on, not every whole number is an `f64`.
        const WHOLE: f64 = 9e15;
        let value = five_digits(self.0);
        if !value.is_finite() {
            to.serialize_none()
        } else if value.fract() == 0.0 && value.abs() < WHOLE {
            to.serialize_i64(value as i64)
        } else {
            to.serialize_f64(value)
        }
    }
}

/// Returns the ends of an interval, if there is one.
pub(super) fn ends(interval: Option<[f64; 2]>) -> [Option<Number>; 2] {
    interval.map_or([None; 2], |ends| ends.map(|end| Some(Number(end))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Number;

    #[test]
    fn a_number_has_five_digits_and_no_more_characters_than_it_needs() {
        for (value, written) in [
            (1.0, "1"),
            (1.234_567, "1.2346"),
            (123_456_789.0, "123460000"),
            (-0.5, "-0.5"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(serde_json::to_string(&Number(value)).unwrap(), written);
        }
    }
}
