use super::*;

fn row(key: &[u8], value: &[u8]) -> Option<Vec<Param<'static>>> {
    let mut row = Row::new();
    Columns.key(key, &mut row)?;
    Columns.value(value, &mut row)?;
    row.into_iter()
        .map(|param| match param {
            Param::Int(value) => Some(Param::Int(value)),
            Param::Float(value) => Some(Param::Float(value)),
            Param::Null => Some(Param::Null),
            _ => None,
        })
        .collect()
}

#[test]
fn a_pair_is_a_row_of_its_columns() {
    let key = Key { sensor: 65_535, ts: -7 };
    let reading = Reading::new(key, [Some(-1.5), None, Some(0.0), None]);
    let found = row(&codec::encode_key(key), &codec::encode_value(&reading)).unwrap();
    let expected = [
        Param::Int(65_535),
        Param::Int(-7),
        Param::Float(-1.5),
        Param::Null,
        Param::Float(0.0),
        Param::Null,
    ];
    assert_eq!(found, expected);
    assert_eq!(found.len(), TABLE.columns.len());
}

#[test]
fn what_is_no_reading_is_no_row() {
    let key = Key { sensor: 1, ts: 2 };
    let (key, value) = (codec::encode_key(key), codec::encode_value(&Reading::new(key, [None; 4])));
    assert!(row(&key, &value).is_some());
    assert_eq!(row(&key[1..], &value), None);
    assert_eq!(row(&key, &value[1..]), None);
    let mut fifth = value;
    fifth[0] = 1 << 4;
    assert_eq!(row(&key, &fifth), None);
}
