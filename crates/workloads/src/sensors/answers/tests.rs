use super::*;

/// A row of integers, each of them also to be had as a float.
struct Fixed([Option<i64>; 6]);

impl ResultRow for Fixed {
    fn int(&self, column: usize) -> Result<Option<i64>> {
        Ok(self.0[column])
    }

    fn float(&self, column: usize) -> Result<Option<f64>> {
        Ok(self.0[column].map(|n| n as f64))
    }

    fn text(&self, _: usize) -> Result<Option<&str>> {
        Ok(None)
    }
}

#[test]
fn a_row_is_read_with_its_nulls() {
    let row = Fixed([Some(65_535), Some(-7), None, Some(0), Some(3), None]);
    let key = Key { sensor: 65_535, ts: -7 };
    let expected = Reading::new(key, [None, Some(0.0), Some(3.0), None]);
    assert_eq!(reading(&row).unwrap(), expected);
}

#[test]
fn a_row_that_the_table_cannot_hold_is_an_error_that_names_the_column() {
    let says = |sensor, ts| {
        let row = Fixed([sensor, ts, None, None, None, None]);
        reading(&row).unwrap_err().to_string()
    };
    assert!(says(Some(65_536), Some(1)).contains("column 0, counted from 0, holds 65536"));
    assert!(says(None, Some(1)).contains("column 0"), "{}", says(None, Some(1)));
    assert!(says(Some(1), None).contains("column 1, counted from 0, holds NULL"));
}
