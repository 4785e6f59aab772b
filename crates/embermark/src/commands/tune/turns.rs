//! Whose turn it is, and for how long.

use std::collections::VecDeque;
use std::time::Duration;

/// Engines that share a time. One that needs more than its part waits for what the others leave. Of
/// those that wait, the one that needs least is next.
pub struct Turns<T> {
    queue: VecDeque<(T, Option<Duration>)>,
    waiting: Vec<(T, Duration)>,
}

/// A turn.
#[derive(Debug, PartialEq, Eq)]
pub struct Turn<T> {
    /// Whose turn it is.
    pub of: T,
    /// How long it may take.
    pub part: Duration,
    /// The time that it needs, if it has waited.
    pub needs: Option<Duration>,
}

impl<T> Turns<T> {
    /// Creates the turns of all, in this order.
    pub fn new(all: impl IntoIterator<Item = T>) -> Self {
        let queue = all.into_iter().map(|of| (of, None)).collect();
        Self { queue, waiting: Vec::new() }
    }

    /// Returns the next turn if this time is left. `None` when all had theirs.
    pub fn next(&mut self, left: Duration) -> Option<Turn<T>> {
        if self.queue.is_empty() {
            self.waiting.sort_by_key(|(_, needs)| *needs);
            self.queue.extend(self.waiting.drain(..).map(|(of, needs)| (of, Some(needs))));
        }
        let (of, needs) = self.queue.pop_front()?;
        let others = self.queue.len() + self.waiting.len();
        let part = left / (others as u32 + 1);
        let part = needs.map_or(part, |needs| {
            // All that the others do not need. At least a quarter more than it needs, because its
            // trials will not take exactly as long again.
            let others_need = self.queue.iter().filter_map(|(_, needs)| *needs).sum();
            part.max(left.saturating_sub(others_need)).max(needs * 5 / 4).min(left)
        });
        Some(Turn { of, part, needs })
    }

    /// Has one wait that needs more than its part.
    pub fn wait(&mut self, of: T, needs: Duration) {
        self.waiting.push((of, needs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn who_needs_more_than_its_part_waits_for_what_the_others_leave() {
        let mut turns = Turns::new(["a", "b", "c", "d"]);
        assert_eq!(turns.next(s(120)), Some(Turn { of: "a", part: s(30), needs: None }));
        turns.wait("a", s(50));
        // Its part is kept for it.
        assert_eq!(turns.next(s(120)), Some(Turn { of: "b", part: s(30), needs: None }));
        assert_eq!(turns.next(s(111)), Some(Turn { of: "c", part: s(37), needs: None }));
        turns.wait("c", s(40));
        assert_eq!(turns.next(s(111)), Some(Turn { of: "d", part: s(37), needs: None }));
        // Now those that wait, and first the one that needs less.
        assert_eq!(turns.next(s(90)), Some(Turn { of: "c", part: s(50), needs: Some(s(40)) }));
        assert_eq!(turns.next(s(51)), Some(Turn { of: "a", part: s(51), needs: Some(s(50)) }));
        assert_eq!(turns.next(s(1)), None);
    }

    #[test]
    fn who_waited_gets_what_the_others_do_not_need_and_never_more_than_is_left() {
        let mut turns = Turns::new([1, 2]);
        for _ in 0..2 {
            let turn = turns.next(s(10)).unwrap();
            turns.wait(turn.of, s(8));
        }
        assert_eq!(turns.next(s(100)).unwrap().part, s(92));
        assert_eq!(turns.next(s(4)).unwrap(), Turn { of: 2, part: s(4), needs: Some(s(8)) });
    }
}
