//! Faults of a line of the log.

use crate::faults::faults;

faults! {
    /// Why a line is not a reading.
    BlankLine: "blank line",
    NotText: "not text",
    Tabs: "wrong separator: tabs",
    Commas: "wrong separator: commas or semicolons",
    Runs: "wrong separator: runs of blanks",
    MissingFields: "missing fields",
    ExtraFields: "extra fields",
    Timestamp: "bad timestamp",
    Epoch: "epoch not a number",
    NoMote: "no mote id",
    MoteNotANumber: "mote id not a number",
    MoteOutOfRange: "mote id not within 1-65535",
    NotANumber: "value not a number",
    NotFinite: "value not finite",
}

impl Fault {
    /// Returns what to do about a file in which every line has this fault. Includes its own
    /// punctuation.
    pub(super) const fn hint(self) -> &'static str {
        match self {
            Self::Tabs => ": the fields look tab-separated, replace each tab by one space",
            Self::Commas => {
                ": the fields look comma-separated (CSV), replace each comma by one space; for other \
                 rows, `embermark init` makes a workload of your own of a CSV file"
            }
            Self::Runs => {
                ": the fields look aligned by runs of blanks, replace each run by one space \
                 (two consecutive spaces mean a NULL between them)"
            }
            _ => "",
        }
    }

    /// Returns the fault of a line that could not be parsed. `met` is the first error of the parser.
    /// A wrong separator takes precedence over it.
    #[cold]
    pub(super) fn classify(line: &[u8], met: Self) -> Self {
        let count = |bytes: &[u8]| line.iter().filter(|b| bytes.contains(b)).count();
        if line.trim_ascii().is_empty() {
            return Self::BlankLine;
        }
        if line.contains(&0) || str::from_utf8(line).is_err() {
            return Self::NotText;
        }
        let spaces = count(b" ");
        let words = line.split(|&b| b == b' ').filter(|word| !word.is_empty()).count();
        match spaces {
            _ if line.contains(&b'\t') => Self::Tabs,
            7 => met,
            ..7 if count(b",;") >= 4 => Self::Commas,
            ..7 => Self::MissingFields,
            _ if words <= 8 && line.windows(2).any(|pair| pair == b"  ") => Self::Runs,
            _ => Self::ExtraFields,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_listed_in_the_order_of_their_discriminants_under_distinct_reasons() {
        for (i, fault) in Fault::ALL.into_iter().enumerate() {
            assert_eq!(fault as usize, i, "{fault:?}");
            assert!(
                Fault::ALL[..i].iter().all(|other| other.reason() != fault.reason()),
                "{fault:?}"
            );
        }
    }
}
