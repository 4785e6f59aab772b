//! Encoded operations of a phase, laid out before its clock starts: one byte string per operation,
//! in sequence. The memory is allocated before the database is opened, so it does not
//! count as the engine's.

use std::ops::Range;

/// Most bytes for the strings of one phase, on a machine with enough memory. Longer ones are
/// encoded when they are needed, inside the clock.
const MOST: usize = 256 << 20;

/// The strings of one phase use at most one part in this many of a machine's memory.
const SHARE: usize = 8;

/// Strings of the phases that run next.
#[derive(Default)]
pub(super) struct Arena {
    bytes: Vec<u8>,
    /// Ends of the strings, for phases whose strings differ in length.
    ends: Vec<u32>,
    /// By phase.
    laid: Vec<Option<Laid>>,
    most: usize,
}

/// Position of a phase's strings.
#[derive(Clone, Debug)]
struct Laid {
    /// Operation with the first string.
    first: usize,
    count: usize,
    bytes: Range<usize>,
    /// Length of each string. 0: see the ends.
    width: usize,
    ends: Range<usize>,
}

impl Arena {
    /// Creates an empty arena with this many bytes. They are touched, so they belong to this
    /// process from now on.
    pub(super) fn with_room(bytes: usize) -> Self {
        let most = most();
        let mut room = vec![1; bytes.min(most)];
        room.clear();
        Self { bytes: room, most, ..Self::default() }
    }

    /// Empties it, and keeps its memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.laid.clear();
    }

    /// Lays out a string for each of these operations of a phase, if there is room. `write` appends
    /// the string of an operation. With a `width` every string has that length.
    pub(super) fn lay(
        &mut self,
        phase: usize,
        operations: Range<usize>,
        width: Option<usize>,
        mut write: impl FnMut(usize, &mut Vec<u8>),
    ) {
        let (bytes_from, ends_from) = (self.bytes.len(), self.ends.len());
        for operation in operations.clone() {
            write(operation, &mut self.bytes);
            if self.bytes.len() - bytes_from > self.most {
                self.bytes.truncate(bytes_from);
                self.ends.truncate(ends_from);
                return;
            }
            if width.is_none() {
                self.ends.push((self.bytes.len() - bytes_from) as u32);
            }
        }
        if operations.is_empty() || self.bytes.len() == bytes_from {
            return;
        }
        if self.laid.len() <= phase {
            self.laid.resize(phase + 1, None);
        }
        self.laid[phase] = Some(Laid {
            first: operations.start,
            count: operations.len(),
            bytes: bytes_from..self.bytes.len(),
            width: width.unwrap_or_default(),
            ends: ends_from..self.ends.len(),
        });
    }

    /// Returns the strings of a phase, if they were laid out.
    #[inline]
    pub(super) fn strings(&self, phase: usize) -> Option<Strings<'_>> {
        let Laid { first, count, bytes, width, ends } = self.laid.get(phase)?.as_ref()?;
        let (bytes, ends) = (&self.bytes[bytes.clone()], &self.ends[ends.clone()]);
        Some(Strings { first: *first, count: *count, width: *width, bytes, ends })
    }
}

/// Returns the limit on this machine.
fn most() -> usize {
    let of = |name| nix::unistd::sysconf(name).ok().flatten().unwrap_or_default();
    let memory = of(nix::unistd::SysconfVar::_PHYS_PAGES)
        .saturating_mul(of(nix::unistd::SysconfVar::PAGE_SIZE));
    MOST.min(memory as usize / SHARE)
}

/// The strings of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings<'a> {
    first: usize,
    count: usize,
    width: usize,
    bytes: &'a [u8],
    ends: &'a [u32],
}

impl<'a> Strings<'a> {
    /// Returns the string of an operation. A phase with more operations starts again with the
    /// first.
    #[inline]
    pub(super) fn at(&self, operation: usize) -> &'a [u8] {
        let mut n = operation - self.first;
        if n >= self.count {
            n %= self.count;
        }
        let (from, to) = match self.width {
            0 => (if n == 0 { 0 } else { self.ends[n - 1] as usize }, self.ends[n] as usize),
            width => (n * width, n * width + width),
        };
        &self.bytes[from..to]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(n: usize, to: &mut Vec<u8>) {
        to.extend_from_slice(n.to_string().as_bytes());
    }

    #[test]
    fn phases_lie_beside_each_other_and_begin_again_at_their_ends() {
        let mut arena = Arena::with_room(64);
        arena.lay(2, 8..12, None, decimal);
        arena.lay(0, 0..3, Some(2), |n, to| to.extend([n as u8, 7]));
        assert!(arena.strings(1).is_none() && arena.strings(3).is_none());
        let (varying, fixed) = (arena.strings(2).unwrap(), arena.strings(0).unwrap());
        let all: Vec<&[u8]> = (8..14).map(|i| varying.at(i)).collect();
        assert_eq!(all, [&b"8"[..], b"9", b"10", b"11", b"8", b"9"]);
        assert_eq!([0, 2, 3].map(|i| fixed.at(i)), [[0, 7], [2, 7], [0, 7]]);
    }

    #[test]
    fn what_has_no_room_is_not_laid_out_and_leaves_the_others_as_they_are() {
        let mut arena = Arena { most: 16, ..Arena::default() };
        arena.lay(0, 0..4, Some(4), |n, to| to.extend([n as u8; 4]));
        arena.lay(1, 0..5, Some(4), |n, to| to.extend([n as u8; 4]));
        arena.lay(2, 0..20, None, decimal);
        arena.lay(3, 0..0, None, decimal);
        assert!([1, 2, 3].iter().all(|phase| arena.strings(*phase).is_none()));
        assert_eq!(arena.strings(0).unwrap().at(3), [3; 4]);
        arena.clear();
        assert!(arena.strings(0).is_none() && arena.bytes.capacity() >= 16);
    }
}
