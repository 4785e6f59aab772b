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
        assert_eq!((name, age, breed), (filled(dog.name), vec![dog.age as u8], filled(dog.breed)));
    }
}
