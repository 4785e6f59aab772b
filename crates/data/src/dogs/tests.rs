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
