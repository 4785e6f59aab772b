//! What an engine reports about its background work.

/// A figure that an engine reports about its checkpoints, flushes, compactions, or the writers that
/// they delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// Name of the figure, in the engine's words if it has some: `compactions running`.
    pub name: &'static str,
    /// Value of the figure.
    pub value: u64,
    /// Whether the value is a state, which is 0 while nothing is going on. Otherwise it is a count
    /// that only increases.
    pub is_state: bool,
}

impl Background {
    /// Makes a count, which increases with each event.
    pub const fn count(name: &'static str, value: u64) -> Self {
        Self { name, value, is_state: false }
    }

    /// Makes a state, which is above 0 while something is going on.
    pub const fn state(name: &'static str, value: u64) -> Self {
        Self { name, value, is_state: true }
    }
}

/// Returns what changed between two readings of the same engine. For a count that is the increase.
/// For a state it is the later value, or the earlier one if the later is 0.
pub fn changes_between(before: &[Background], after: &[Background]) -> Vec<(&'static str, u64)> {
    let one = |now: &Background| {
        let then = before.iter().find(|then| then.name == now.name).map_or(0, |then| then.value);
        let value = match now.is_state {
            true if now.value == 0 => then,
            true => now.value,
            false => now.value.saturating_sub(then),
        };
        (value > 0).then_some((now.name, value))
    };
    after.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{Background, changes_between};

    #[test]
    fn counts_move_by_what_they_went_up_and_states_as_long_as_they_last() {
        let before = [
            Background::count("checkpoints", 3),
            Background::state("compactions running", 2),
            Background::state("writes stopped", 0),
            Background::count("flushes", 7),
        ];
        let after = [
            Background::count("checkpoints", 5),
            Background::state("compactions running", 0),
            Background::state("writes stopped", 1),
            Background::count("flushes", 7),
        ];
        let expected = vec![("checkpoints", 2), ("compactions running", 2), ("writes stopped", 1)];
        assert_eq!(changes_between(&before, &after), expected);
    }
}
