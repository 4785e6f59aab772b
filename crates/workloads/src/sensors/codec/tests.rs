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
