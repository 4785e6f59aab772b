//! Scans: the keys of a range by the set of keys, and their values.

use std::ops::ControlFlow;

use super::changes::Names;
use super::resp::{Answer, Connection};
use super::snapshot_check::SnapshotCheck;
use crate::kv::{Direction, Range, Visit};

/// Number of pairs that are read at first, of which a lookup of the newest row needs one. Each
/// further read has eight times as many.
const FIRST: usize = 16;
/// Maximum number of pairs that are read at a time. From then on the next keys are requested
/// together with the values of these.
const MOST: usize = 1024;
/// Pairs of an open range that are read at first where a command has to be enough.
const FIRST_OF_OPEN: usize = 64;

/// Script that reads keys and their values in one command, so that they are from one state.
const PAIRS: &str = "\
local keys = server.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
local rows, pairs = {}, {}
if #keys == 0 then return pairs end
for i = 1, #keys do rows[i] = ARGV[4] .. keys[i] end
local values = server.call('MGET', unpack(rows))
for i = 1, #keys do pairs[2 * i - 1] = keys[i]; pairs[2 * i] = values[i] end
return pairs";

/// The keys of one step of a scan, one behind the other, in memory that is kept.
#[derive(Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn add(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    fn key(&self, place: usize) -> &[u8] {
        let from = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.bytes[from..self.ends[place]]
    }

    fn last(&self) -> &[u8] {
        self.ends.len().checked_sub(1).map_or(&[], |last| self.key(last))
    }
}

/// Requests the next keys of a scan: from the bounds of its range, or after a key.
fn ask_keys(
    connection: &mut Connection,
    names: &Names,
    range: &Range<'_>,
    behind: Option<&[u8]>,
    most: usize,
) {
    let is_back = range.direction == Direction::Backward;
    connection.command(8 + usize::from(is_back), "ZRANGE");
    connection.word(&[&names.keys]);
    write_bounds(connection, range, behind);
    connection.word(&[b"BYLEX"]);
    if is_back {
        connection.word(&[b"REV"]);
    }
    connection.word(&[b"LIMIT"]);
    connection.word(&[b"0"]);
    connection.number(most);
}

/// The bounds in the order in which the range is visited: `[` includes a key, `(` does not.
fn write_bounds(connection: &mut Connection, range: &Range<'_>, behind: Option<&[u8]>) {
    let low: [&[u8]; 2] = range.from.map_or([b"-", b""], |from| [b"[", from]);
    let high: [&[u8]; 2] = range.to.map_or([b"+", b""], |to| [b"(", to]);
    let is_back = range.direction == Direction::Backward;
    let (first, second) = if is_back { (high, low) } else { (low, high) };
    connection.word(&behind.map_or(first, |key| [b"(", key]));
    connection.word(&second);
}

/// Visits the pairs of a range. Keys and values are read by separate commands, because no other
/// client changes them meanwhile.
pub(super) fn visit(
    connection: &mut Connection,
    names: &Names,
    range: &Range<'_>,
    keys: &mut Keys,
    visit: &mut Visit<'_>,
) -> Answer<()> {
    let mut most = FIRST;
    ask_keys(connection, names, range, None, most);
    connection.send()?;
    loop {
        keys.clear();
        let found = connection.list()?;
        for _ in 0..found {
            keys.add(connection.bulk()?.unwrap_or_default());
        }
        if found == 0 {
            return Ok(());
        }
        connection.command(1 + found, "MGET");
        (0..found).for_each(|place| connection.word(&[&names.rows, keys.key(place)]));
        let (has_more, is_long) = (found == most, most == MOST);
        if has_more && is_long {
            ask_keys(connection, names, range, Some(keys.last()), most);
        }
        connection.send()?;
        let (values, mut flow) = (connection.list()?, ControlFlow::Continue(()));
        for place in 0..values {
            let value = connection.bulk()?;
            if let (Some(value), true) = (value, flow.is_continue()) {
                flow = visit(keys.key(place), value);
            }
        }
        match (has_more, is_long) {
            (true, true) if flow.is_break() => return connection.skip(),
            (true, true) => {}
            (true, false) if flow.is_continue() => {
                most = (most * 8).min(MOST);
                ask_keys(connection, names, range, Some(keys.last()), most);
                connection.send()?;
            }
            _ => return Ok(()),
        }
    }
}

/// Visits the pairs of a range by commands that each read keys with their values from one state.
pub(super) fn visit_in_steps(
    connection: &mut Connection,
    names: &Names,
    range: &Range<'_>,
    keys: &mut Keys,
    visit: &mut Visit<'_>,
    check: &mut SnapshotCheck,
) -> Answer<()> {
    let is_open = range.from.is_none() || range.to.is_none();
    let mut most = if is_open { FIRST_OF_OPEN } else { MOST };
    let backward = PAIRS.replace("'BYLEX'", "'BYLEX', 'REV'");
    let is_back = range.direction == Direction::Backward;
    let script = if is_back { &backward } else { PAIRS };
    let mut is_first = true;
    loop {
        check.request_count(connection);
        connection.command(8, "EVAL");
        connection.word(&[script.as_bytes()]);
        connection.word(&[b"1"]);
        connection.word(&[&names.keys]);
        write_bounds(connection, range, (!is_first).then(|| keys.last()));
        connection.number(most);
        connection.word(&[&names.rows]);
        connection.send()?;
        check.read_answer(connection)?;
        let (found, mut flow) = (connection.list()? / 2, ControlFlow::Continue(()));
        for _ in 0..found {
            keys.clear();
            keys.add(connection.bulk()?.unwrap_or_default());
            let value = connection.bulk()?;
            if let (Some(value), true) = (value, flow.is_continue()) {
                flow = visit(keys.last(), value);
            }
        }
        if found < most || flow.is_break() {
            return Ok(());
        }
        (most, is_first) = (MOST, false);
    }
}
