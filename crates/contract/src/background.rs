//! What an engine tells of the work that it does in the background.

/// Something that an engine tells of its checkpoints, flushes, compactions and what they do to writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// Its name, the engine's own where it has one: `compactions running`.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// Whether the value is a state, which is 0 where nothing is going on; else it is a count, which only
    /// goes up.
    pub is_state: bool,
}

impl Background {
    /// What goes up with each.
    pub const fn count(name: &'static str, value: u64) -> Self {
        Self { name, value, is_state: false }
    }

    /// What is above 0 while something is going on.
    pub const fn state(name: &'static str, value: u64) -> Self {
        Self { name, value, is_state: true }
    }
}

/// What moved between two readings of the same engine: of a count by how much it went up, of a state its
/// value in the later one, or in the earlier one where it is over.
pub fn moved(before: &[Background], after: &[Background]) -> Vec<(&'static str, u64)> {
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
    use super::{Background, moved};

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
        assert_eq!(moved(&before, &after), expected);
    }
}
