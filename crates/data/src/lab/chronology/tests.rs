use super::*;
use embermark_model::Key;

fn row(sensor: u16, ts: i64, mark: f64) -> Reading {
    Reading::new(Key { sensor, ts }, [Some(mark), None, None, None])
}

#[test]
fn of_equal_keys_the_first_in_the_file_stays() {
    let mut readings = vec![
        row(1, 5, 0.0),
        row(2, 5, 1.0),
        row(1, 5, 2.0),
        row(1, 4, 3.0),
        row(2, 5, 4.0),
        row(1, 5, 5.0),
    ];
    assert_eq!(out_of_order(&readings), 1);
    readings.sort_by_key(|reading| reading.ts);
    assert_eq!(drop_duplicates(&mut readings), 3);
    assert_eq!(readings, [row(1, 4, 3.0), row(1, 5, 0.0), row(2, 5, 1.0)]);
}
