use embermark_data::dogs;

use super::*;

#[test]
fn every_dog_comes_back_from_its_key_and_value() {
    for dog in dogs::generate(20_000, 1) {
        assert_eq!(text(&key(&dog)).as_str(), dog.id.as_str());
        assert_eq!(stored(&dog.id, &value(&dog)), Some(Stored::of(&dog)));
    }
}
