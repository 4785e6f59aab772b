use embermark_data::dogs;

use super::*;

#[test]
fn a_pair_is_a_row_of_its_columns() {
    for dog in dogs::generate(2_000, 1) {
        for layout in [Layout::Packed, Layout::Fixed] {
            let (key, value) = (record::key(&dog), record::value(&dog, layout));
            let mut row = Row::new();
            Columns(layout).key(&key, &mut row).unwrap();
            Columns(layout).value(&value, &mut row).unwrap();
            let [name, age, breed] =
                [Param::Text(dog.name), Param::Int(dog.age), Param::Text(dog.breed)];
            assert_eq!(row[..], [Param::Bytes(&key), name, age, breed]);
        }
    }
}

#[test]
fn what_is_no_dog_is_no_row() {
    let is_value = |value, layout| Columns(layout).value(value, &mut Row::new()).is_some();
    assert_eq!(Columns(Layout::Packed).key(&[0; 15], &mut Row::new()), None);
    assert!(is_value(&[3, 1, b'a', b'b'], Layout::Packed));
    for broken in [&[][..], &[3], &[3, 2, b'a'], &[3, 1, 0xff]] {
        assert!(!is_value(broken, Layout::Packed), "{broken:?}");
        assert!(!is_value(broken, Layout::Fixed), "{broken:?}");
    }
}
