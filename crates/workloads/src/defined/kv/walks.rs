//! Questions over columns of fixed width that compare rows: gaps in time, and values far from the
//! mean of their group. Values are loaded from their position, and keys are kept as bytes.

use std::collections::HashMap;

use embermark_model::answer;
use foldhash::fast::FixedState;

use super::super::Codec;
use super::super::codec::field::Field;
use super::super::outliers::Band;
use super::super::row::owned;

/// Finds gaps in the times of rows whose keys begin with value and time.
pub(super) struct Gaps {
    by: Field,
    time: Field,
    longer: u64,
    /// The keys of the value, the offset of their time, and the time before.
    span: Span,
    at: usize,
    before: u64,
}

impl Gaps {
    /// Returns `None` where a column has no fixed position in its pairs, or the time does not have
    /// 8 bytes.
    pub(super) fn new(codec: &Codec, (by, time): (usize, usize), longer: i64) -> Option<Self> {
        let (by, time) = (codec.field(by)?, codec.field(time)?);
        let longer = longer.max(0).cast_unsigned();
        // This also checks that the time has 8 bytes.
        Span::new(codec, 1, true)?;
        let (span, at) =
            (Span::new(codec, 1, false)?, codec.prefix(&vec![0; codec.key_length?], 1));
        Some(Self { by, time, longer, span, at, before: 0 })
    }

    /// Adds a row. Returns `None` if it is not a pair of its table.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], found: &mut Vec<answer::Value>) -> Option<()> {
        let time = load(key, self.at)?;
        if !self.span.has(key) {
            self.span.go_to(key, None);
        } else if time > self.before && time - self.before > self.longer {
            let of = self.by.ordered(key, &[])?;
            let times = [self.before, time].map(|time| self.time.of_key(time));
            found.extend([self.by.value(of), times[0], times[1]].map(owned));
        }
        self.before = time;
        Some(())
    }
}

/// The rows of a group.
#[derive(Default)]
struct Rows {
    /// Numbers that compare as the values do.
    values: Vec<i64>,
    /// The keys in sequence. A key of 8 to 16 bytes is kept as its first 8 and its last 8 bytes.
    keys: Vec<u8>,
}

/// Finds rows whose value is far from the mean of their group.
pub(super) struct Outliers<'a> {
    codec: &'a Codec,
    /// The columns of the key.
    key: &'a [usize],
    length: usize,
    of: Field,
    by: Field,
    square: f64,
    /// For rows that come group by group: the group, and the prefix of its keys, where the prefix
    /// identifies it.
    group: Option<i64>,
    span: Option<Span>,
    rows: Rows,
    /// For rows that come in any order.
    all: Option<HashMap<i64, Rows, FixedState>>,
}

impl<'a> Outliers<'a> {
    /// Creates it for rows that come group by group (`together`) or in any order. Returns `None`
    /// where a column has no fixed position in its pairs.
    pub(super) fn new(
        codec: &'a Codec,
        key: &'a [usize],
        (of, by): (usize, usize),
        deviations: f64,
        together: bool,
    ) -> Option<Self> {
        let all = (!together).then(HashMap::default);
        Some(Self {
            codec,
            key,
            length: codec.key_length?,
            of: codec.field(of)?,
            by: codec.field(by)?,
            square: deviations * deviations,
            group: None,
            span: if together { Span::new(codec, 1, false) } else { None },
            rows: Rows::default(),
            all,
        })
    }

    /// Adds a row. A row whose group or value is absent does not count.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], value: &[u8], found: &mut Vec<answer::Value>) {
        if !self.span.as_ref().is_some_and(|span| span.has(key)) {
            let Some(of) = self.by.ordered(key, value) else { return };
            if self.group != Some(of) {
                self.go_on(key, of, found);
            }
        }
        let Some(number) = self.of.ordered(key, value) else { return };
        let rows = match (&mut self.all, self.group) {
            (Some(all), Some(of)) => all.entry(of).or_default(),
            _ => &mut self.rows,
        };
        rows.values.push(number);
        match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
            // A copy of known length is two stores.
            (Some(first), Some(last)) if self.length <= 16 => {
                let mut ends = [0; 16];
                ends[..8].copy_from_slice(first);
                ends[8..].copy_from_slice(last);
                rows.keys.extend_from_slice(&ends);
            }
            _ => rows.keys.extend_from_slice(key),
        }
    }

    /// Moves to the group of a key.
    #[inline(never)]
    fn go_on(&mut self, key: &[u8], of: i64, found: &mut Vec<answer::Value>) {
        if self.all.is_none() {
            self.end_group(found);
        }
        self.group = Some(of);
        if let Some(span) = &mut self.span {
            span.go_to(key, None);
        }
    }

    /// Adds what was found in a group, and forgets its rows.
    fn end_group(&mut self, found: &mut Vec<answer::Value>) {
        self.far(&self.rows, found);
        self.rows.values.clear();
        self.rows.keys.clear();
    }

    /// Adds the rows of a group that are far from its mean.
    fn far(&self, Rows { values, keys }: &Rows, found: &mut Vec<answer::Value>) {
        let numbers = values.iter().map(|value| self.of.number_of(*value));
        let Some(band) = Band::new(self.square, numbers) else { return };
        let as_ends = (8..=16).contains(&self.length);
        let mut whole = Vec::new();
        for (value, key) in
            values.iter().zip(keys.chunks_exact(if as_ends { 16 } else { self.length }))
        {
            if !band.is_outside(self.of.number_of(*value)) {
                continue;
            }
            let key = if as_ends {
                whole.clear();
                whole.extend_from_slice(&key[..8]);
                whole.extend_from_slice(&key[24 - self.length..]);
                &*whole
            } else {
                key
            };
            let columns = self.key.iter().filter_map(|column| self.codec.column(key, &[], *column));
            found.extend(columns.chain([self.of.value(*value)]).map(owned));
        }
    }

    /// Adds what is left to find.
    pub(super) fn end(mut self, found: &mut Vec<answer::Value>) {
        match self.all.take() {
            Some(all) => all.values().for_each(|rows| self.far(rows, found)),
            None => self.end_group(found),
        }
    }
}

/// Keys of fixed length whose first columns are equal, and, optionally, whose next 8 bytes are in a
/// bucket.
pub(super) struct Span {
    /// Mask of the bytes of the first columns within the first 8, and their value.
    mask: u64,
    begin: u64,
    /// Offset of the 8 bytes of buckets, the first value of the bucket, and the largest difference
    /// from it. Without buckets every value is included.
    at: usize,
    from: u64,
    most: u64,
}

/// First bytes that no key has, because at most 7 are compared.
const NO_KEY: u64 = 1;

/// Returns 8 bytes of a key as a number that compares as they do.
#[inline]
pub(super) fn load(key: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(at..)?.first_chunk()?))
}

impl Span {
    /// Creates a span of this many first columns, with buckets of the next column or without. It
    /// has no key yet. Returns `None` where the first columns have more than 7 bytes, or the next
    /// does not have 8.
    pub(super) fn new(codec: &Codec, columns: usize, buckets: bool) -> Option<Self> {
        let key = vec![0; codec.key_length.filter(|length| *length >= 8)?];
        let begin = codec.prefix(&key, columns);
        if begin >= 8 || (buckets && codec.prefix(&key, columns + 1) != begin + 8) {
            return None;
        }
        let mask = if begin == 0 { 0 } else { u64::MAX << (64 - 8 * begin) };
        Some(Self {
            mask,
            begin: NO_KEY,
            at: if buckets { begin } else { 0 },
            from: 0,
            most: u64::MAX,
        })
    }

    /// Returns whether a key is in the span.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        let (Some(begin), Some(word)) = (load(key, 0), load(key, self.at)) else { return false };
        begin & self.mask == self.begin && word.wrapping_sub(self.from) <= self.most
    }

    /// Moves to the keys with the prefix of `key`, in a bucket given by its first value and its
    /// length. Without a key it moves to all.
    pub(super) fn go_to(&mut self, key: &[u8], bucket: Option<(u64, u64)>) {
        self.begin = load(key, 0).map_or(0, |begin| begin & self.mask);
        (self.from, self.most) =
            bucket.map_or((0, u64::MAX), |(from, values)| (from, values.max(1) - 1));
    }
}
