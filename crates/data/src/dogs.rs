//! Dogs, made from a seed: the table of the comparison of HarperDB and SQLite.

use arrayvec::ArrayString;
use fake::locales::{Data, EN};

use crate::draw::Draw;

/// A dog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dog {
    /// A random UUID (version 4, RFC 9562) in its usual 36 characters: the primary key.
    pub id: ArrayString<36>,
    /// Its name.
    pub name: &'static str,
    /// In years.
    pub age: i64,
    /// Its breed: a word of two.
    pub breed: &'static str,
}

impl Dog {
    /// Bytes of its values: an age of 64 bits, and texts as long as they are in UTF-8.
    pub const fn value_bytes(&self) -> u64 {
        let Self { id, name, age: _, breed } = self;
        8 + (id.len() + name.len() + breed.len()) as u64
    }
}

/// Makes dogs. Names are from the crate `fake`'s English list.
pub fn generate(rows: u64, seed: u64) -> impl Iterator<Item = Dog> {
    let mut draw = Draw::new(seed, 2);
    (0..rows).map(move |_| Dog {
        id: uuid(&mut draw),
        name: draw.one(EN::NAME_FIRST_NAME),
        age: draw.below(18) as i64,
        breed: draw.one(&BREEDS),
    })
}

/// The ten most registered by the breeders' clubs, more or less.
const BREEDS: [&str; 10] = [
    "Beagle",
    "Boxer",
    "Bulldog",
    "Dachshund",
    "Golden Retriever",
    "Labrador",
    "Mutt",
    "Poodle",
    "Rottweiler",
    "Terrier",
];

fn uuid(draw: &mut Draw) -> ArrayString<36> {
    const VERSION_4: u128 = 0x4 << 76;
    const VARIANT: u128 = 0b10 << 62;
    const FIXED: u128 = (0xf << 76) | (0b11 << 62);
    let random = (u128::from(draw.bits()) << 64) | u128::from(draw.bits());
    let bits = (random & !FIXED) | VERSION_4 | VARIANT;
    let mut text = ArrayString::new();
    for digit in 0..32 {
        if matches!(digit, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        let nibble = (bits >> (124 - 4 * digit)) as usize & 0xf;
        text.push(char::from(b"0123456789abcdef"[nibble]));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_distinct_uuids_of_version_4() {
        let dogs: Vec<Dog> = generate(5_000, 42).collect();
        let ids: BTreeSet<&str> = dogs.iter().map(|dog| dog.id.as_str()).collect();
        assert_eq!(ids.len(), 5_000);
        for id in ids {
            let parts: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(&id[14..15], "4", "{id}");
            assert!("89ab".contains(&id[19..20]), "{id}");
        }
        assert!(dogs.iter().all(|dog| (0..18).contains(&dog.age) && !dog.name.is_empty()));
    }

    #[test]
    fn the_seed_alone_decides() {
        let made = |seed| generate(10, seed).collect::<Vec<_>>();
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
    }

    #[test]
    fn a_dog_weighs_its_age_and_its_texts() {
        let dog = generate(1, 42).next().unwrap();
        assert_eq!(dog.value_bytes(), 8 + 36 + (dog.name.len() + dog.breed.len()) as u64);
    }
}
