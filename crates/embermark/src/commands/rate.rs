//! Rates on the command line.

/// Parses a number of rows: `86400`, `86,400`, `100k`, `8.64M`, `1G`.
pub fn rows(text: &str) -> Result<f64, String> {
    // A comma is between groups of three digits. As a decimal point it is refused.
    let whole = text.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',').skip(1);
    let is_grouped =
        groups.all(|group| group.len() == 3 && group.bytes().all(|c| c.is_ascii_digit()));
    let plain = if is_grouped { text.replace(['_', ','], "") } else { text.to_owned() };
    let (number, times) = match plain.chars().last() {
        Some('k' | 'K') => (&plain[..plain.len() - 1], 1e3),
        Some('m' | 'M') => (&plain[..plain.len() - 1], 1e6),
        Some('g' | 'G') => (&plain[..plain.len() - 1], 1e9),
        _ => (plain.as_str(), 1.0),
    };
    let rows = number.parse::<f64>().map(|number| number * times);
    let rows = rows.ok().filter(|rows| rows.is_finite() && *rows > 0.0);
    rows.ok_or_else(|| "give a number of rows above 0, such as 86400, 100k or 8.64M".to_owned())
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn a_rate_is_a_number_above_nothing_with_a_unit_or_without() {
        let read = ["86400", "1_000", "100k", "8.64M", "2G"].map(|text| rows(text).unwrap());
        assert_eq!(read, [86_400.0, 1_000.0, 100_000.0, 8_640_000.0, 2e9]);
        assert_eq!(rows("86,400").unwrap(), 86_400.0);
        for wrong in ["8,64M", "1,5", "86,4000", "", "0", "-3k", "k", "many", "inf", "NaN"] {
            assert!(rows(wrong).is_err(), "{wrong}");
        }
    }
}
