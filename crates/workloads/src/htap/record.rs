//! A dog as a key-value store has it: the key is the UUID's 16 bytes. The value is the age in one
//! byte, the length of the name in another, the name and the breed; or, where each of them is indexed,
//! the age in one byte, and name and breed in places of their own, filled up with zeros.

use arrayvec::{ArrayString, ArrayVec};
use embermark_contract::kv::IndexDef;
use embermark_data::dogs::Dog;

use super::port::{Attribute, Stored};

/// How values are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// As short as they are.
    Packed,
    /// Each attribute at a place of its own, as an index needs it.
    Fixed,
}

pub(super) type Key = [u8; 16];
pub(super) type Value = ArrayVec<u8, 64>;

/// Bytes of a name or a breed in a place of its own: the longest of their lists have 16.
const TEXT: usize = 16;

/// The indexes, in the order of [`Attribute::ALL`].
pub(super) const INDEXES: [IndexDef<'static>; 3] = [
    IndexDef { name: Attribute::Name.column(), at: 1, length: TEXT },
    IndexDef { name: Attribute::Age.column(), at: 0, length: 1 },
    IndexDef { name: Attribute::Breed.column(), at: 1 + TEXT, length: TEXT },
];

pub(super) fn key(dog: &Dog) -> Key {
    let digits = dog.id.bytes().filter_map(|byte| char::from(byte).to_digit(16));
    let bits = digits.fold(0, |bits: u128, digit| bits << 4 | u128::from(digit));
    bits.to_be_bytes()
}

/// Names and breeds are of lists whose longest fit.
#[inline]
pub(super) fn value(dog: &Dog, layout: Layout) -> Value {
    let mut value = Value::new();
    value.push(dog.age as u8);
    match layout {
        Layout::Packed => {
            value.push(dog.name.len() as u8);
            value.extend(dog.name.bytes().chain(dog.breed.bytes()).take(62));
        }
        Layout::Fixed => {
            for text in [dog.name, dog.breed] {
                value.extend(text.bytes().chain(std::iter::repeat(0)).take(TEXT));
            }
        }
    }
    value
}

/// A key as the UUID's text.
pub(super) fn text(key: &[u8]) -> ArrayString<36> {
    let mut text = ArrayString::new();
    for (place, byte) in key.iter().take(16).enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for nibble in [byte >> 4, byte & 0xf] {
            text.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
        }
    }
    text
}

/// The dog of a value; `None` of what is none.
pub(super) fn stored<'a>(id: &'a str, value: &'a [u8], layout: Layout) -> Option<Stored<'a>> {
    let [age, rest @ ..] = value else { return None };
    let (name, breed) = match layout {
        Layout::Packed => {
            let [length, names @ ..] = rest else { return None };
            names.split_at_checked(usize::from(*length))?
        }
        Layout::Fixed => rest.split_at_checked(TEXT)?,
    };
    let of = |text: &'a [u8]| str::from_utf8(text).ok().map(|text| text.trim_end_matches('\0'));
    Some(Stored { id, name: of(name)?, age: i64::from(*age), breed: of(breed)? })
}

#[cfg(test)]
mod tests {
    use embermark_data::dogs;

    use super::*;

    #[test]
    fn every_dog_comes_back_from_its_key_and_value() {
        for dog in dogs::generate(20_000, 1) {
            assert_eq!(text(&key(&dog)).as_str(), dog.id.as_str());
            for layout in [Layout::Packed, Layout::Fixed] {
                let value = value(&dog, layout);
                assert_eq!(stored(&dog.id, &value, layout), Some(Stored::of(&dog)), "{layout:?}");
            }
        }
    }

    #[test]
    fn an_index_finds_an_attribute_at_its_place() {
        for dog in dogs::generate(1_000, 1) {
            let value = value(&dog, Layout::Fixed);
            let at = |index: IndexDef<'_>| value[index.at..index.at + index.length].to_vec();
            let [name, age, breed] = INDEXES.map(at);
            let filled = |text: &str| format!("{text:\0<16}").into_bytes();
            assert_eq!(
                (name, age, breed),
                (filled(dog.name), vec![dog.age as u8], filled(dog.breed))
            );
        }
    }
}
