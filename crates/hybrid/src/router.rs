//! Chooses the side that answers a query: the key-value pairs or the mirror's rows, whichever took
//! less time.

use std::collections::HashMap;
use std::time::Duration;

use embermark_contract::kv::mirror::Side;

/// Number of answers of one side after which the other is tried again.
const RETRY_AFTER: u32 = 32;

/// The same number if the other side took more than `HOPELESS_RATIO` times as long. It is still
/// tried, because data changes.
const HOPELESS_RETRY_AFTER: u32 = 1_024;
const HOPELESS_RATIO: f64 = 8.0;

/// Weight of a new time in the expected time.
const NEW_TIME_WEIGHT: f64 = 0.5;

/// Times of the queries, by name.
#[derive(Default)]
pub(crate) struct Router(HashMap<String, SideTimes>);

/// Times of both sides.
#[derive(Clone, Copy, Default)]
struct SideTimes {
    /// Expected seconds by pairs and by rows.
    pairs: Option<f64>,
    rows: Option<f64>,
    /// Number of answers since the slower side was asked.
    since: u32,
}

impl SideTimes {
    fn faster(&self) -> Option<Side> {
        let (pairs, rows) = (self.pairs?, self.rows?);
        Some(if pairs <= rows { Side::Pairs } else { Side::Rows })
    }

    /// Whether it is time to try the slower side again.
    fn is_retry_due(&self) -> bool {
        let (Some(pairs), Some(rows)) = (self.pairs, self.rows) else { return true };
        let is_hopeless = pairs.max(rows) > HOPELESS_RATIO * pairs.min(rows);
        self.since >= if is_hopeless { HOPELESS_RETRY_AFTER } else { RETRY_AFTER }
    }
}

const fn other(side: Side) -> Side {
    match side {
        Side::Pairs => Side::Rows,
        Side::Rows => Side::Pairs,
    }
}

impl Router {
    /// Returns the side to ask. `None` while one of them has not been tried.
    pub fn side(&self, question: &str) -> Option<Side> {
        let known = self.0.get(question)?;
        let faster = known.faster()?;
        Some(if known.is_retry_due() { other(faster) } else { faster })
    }

    /// Records how long a side took.
    pub fn took(&mut self, question: &str, side: Side, time: Duration) {
        if !self.0.contains_key(question) {
            self.0.insert(question.to_owned(), SideTimes::default());
        }
        let Some(known) = self.0.get_mut(question) else { return };
        let faster = known.faster();
        let expected = match side {
            Side::Pairs => &mut known.pairs,
            Side::Rows => &mut known.rows,
        };
        let time = time.as_secs_f64();
        *expected =
            Some(expected.map_or(time, |before| before + NEW_TIME_WEIGHT * (time - before)));
        known.since = if faster == Some(side) { known.since.saturating_add(1) } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_faster_side_answers_once_both_have() {
        let mut router = Router::default();
        assert_eq!(router.side("q"), None);
        router.took("q", Side::Rows, MS * 3);
        assert_eq!(router.side("q"), None);
        router.took("q", Side::Pairs, MS);
        assert_eq!(router.side("q"), Some(Side::Pairs));
        assert_eq!(router.side("another"), None);
    }

    #[test]
    fn a_side_that_has_become_slower_is_left() {
        let mut router = Router::default();
        router.took("q", Side::Rows, MS * 3);
        router.took("q", Side::Pairs, MS);
        for _ in 0..3 {
            router.took("q", Side::Pairs, MS * 20);
        }
        assert_eq!(router.side("q"), Some(Side::Rows));
    }

    #[test]
    fn the_slower_side_is_tried_again_and_later_if_it_is_hopeless() {
        for (slow, after) in [(MS * 3, RETRY_AFTER), (MS * 30, HOPELESS_RETRY_AFTER)] {
            let mut router = Router::default();
            router.took("q", Side::Rows, slow);
            router.took("q", Side::Pairs, MS);
            for _ in 0..after {
                assert_eq!(router.side("q"), Some(Side::Pairs));
                router.took("q", Side::Pairs, MS);
            }
            assert_eq!(router.side("q"), Some(Side::Rows));
            router.took("q", Side::Rows, slow);
            assert_eq!(router.side("q"), Some(Side::Pairs));
        }
    }
}
