//! A machine's log in a key-value store: by time a record of the five values, or by second a record
//! of all its samples. Keys are big-endian, so that their order is that of time.

use std::ops::ControlFlow;

use embermark_contract::kv::{KvStore, Pairs, Range, Table, TableDef};
use embermark_contract::{Result, Scope};
use embermark_data::machine::{CHANNELS, History, Sample, Stamp};
use embermark_model::result::Execution;

use super::packed;
use super::port::{Layout, MachineLog, Seek, Sums, Visit, add, keep, one_value};

pub(super) struct KvLog {
    store: Box<dyn KvStore>,
    layout: Layout,
    table: Table,
    bytes: Vec<u8>,
}

const fn table(layout: Layout) -> TableDef<'static> {
    let (name, length) = match layout {
        Layout::Samples => ("sample", packed::STAMP),
        Layout::Seconds => ("second", 8),
    };
    TableDef { name, key_length: Some(length), indexes: &[] }
}

impl KvLog {
    pub(super) fn new(mut store: Box<dyn KvStore>, layout: Layout) -> Result<Self> {
        let table = store.table(&table(layout))?;
        Ok(Self { store, layout, table, bytes: Vec::new() })
    }

    /// Visits samples between two keys, until it has enough: one question is one snapshot.
    fn scan(&mut self, range: Range<'_>, visit: &mut Visit<'_>) -> Result<()> {
        let (layout, table, mut failed) = (self.layout, self.table, None);
        let mut see = |key: &[u8], value: &[u8]| {
            let mut go_on = ControlFlow::Continue(());
            let seen = match layout {
                Layout::Samples => packed::stamp(key).and_then(|at| {
                    go_on = visit(Sample { at, values: packed::values(value)? });
                    Ok(())
                }),
                Layout::Seconds => packed::second(key).and_then(|s| {
                    packed::unpack(s, value, |sample| {
                        if go_on.is_continue() {
                            go_on = visit(sample);
                        }
                    })
                }),
            };
            match seen {
                Ok(()) => go_on,
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        self.store.within(Scope::Snapshot, |snapshot| snapshot.scan(table, range, &mut see))?;
        failed.map_or(Ok(()), Err)
    }

    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let table = self.table;
        self.store.within(Scope::PerOperation, |each| each.put(table, key, value))
    }

    fn between(&mut self, from: Stamp, to: Stamp, visit: &mut Visit<'_>) -> Result<()> {
        if self.layout == Layout::Seconds {
            return Err(one_value());
        }
        let (from, to) = (packed::stamp_key(from), packed::stamp_key(to));
        self.scan(Range::between(&from, Some(&to)), visit)
    }

    fn whole_seconds(&mut self, first: i64, last: i64, visit: &mut Visit<'_>) -> Result<()> {
        let (from, to) = (packed::second_key(first), packed::second_key(last + 1));
        self.scan(Range::between(&from, Some(&to)), visit)
    }
}

struct HistoryPairs {
    history: History,
    layout: Layout,
    next: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Pairs for HistoryPairs {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        if self.next >= self.history.len {
            return None;
        }
        let first = self.history.sample(self.next);
        self.key.clear();
        match self.layout {
            Layout::Samples => {
                self.key.extend(packed::stamp_key(first.at));
                self.value.clear();
                self.value.extend(packed::values_bytes(&first.values));
                self.next += 1;
            }
            Layout::Seconds => {
                let end = self.history.after(Stamp { s: first.at.s, ns: 999_999_999 });
                let samples: Vec<Sample> =
                    (self.next..end).map(|number| self.history.sample(number)).collect();
                self.key.extend(packed::second_key(first.at.s));
                packed::pack(&samples, &mut self.value);
                self.next = end;
            }
        }
        Some((&self.key, &self.value))
    }
}

impl MachineLog for KvLog {
    fn finds(&self) -> Execution {
        Execution::ClientSide
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn open(&mut self) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, sample: &Sample) -> Result<()> {
        let (key, value) = (packed::stamp_key(sample.at), packed::values_bytes(&sample.values));
        self.put(&key, &value)
    }

    fn write_second(&mut self, samples: &[Sample]) -> Result<()> {
        packed::pack(samples, &mut self.bytes);
        let (key, table) = (packed::second_key(samples[0].at.s), self.table);
        let Self { store, bytes, .. } = self;
        store.within(Scope::PerOperation, |each| each.put(table, &key, bytes))
    }

    fn load(&mut self, history: &History) -> Result<()> {
        let mut pairs = HistoryPairs {
            history: *history,
            layout: self.layout,
            next: 0,
            key: Vec::new(),
            value: Vec::new(),
        };
        self.store.bulk(self.table, &mut pairs).map(drop)
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        if self.layout == Layout::Seconds {
            return Err(one_value());
        }
        let bound = packed::stamp_key(if seek.forward() { at.next() } else { at });
        let range = if seek.forward() {
            Range::between(&bound, None)
        } else {
            Range { to: Some(&bound), ..Range::default() }.backward()
        };
        let mut found = None;
        self.scan(range, &mut |sample| {
            if !seek.wants(sample.values[0]) {
                return ControlFlow::Continue(());
            }
            found = Some(sample.at);
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    fn lowest(&mut self, after: Stamp, before: Stamp) -> Result<Option<Stamp>> {
        let mut lowest: Option<(u16, Stamp)> = None;
        self.between(after.next(), before, &mut |sample| {
            let angle = sample.values[0];
            if lowest.is_none_or(|(least, _)| angle < least) {
                lowest = Some((angle, sample.at));
            }
            ControlFlow::Continue(())
        })?;
        Ok(lowest.map(|(_, at)| at))
    }

    fn samples(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.between(from, to, &mut keep(into))
    }

    fn sums(&mut self, from: Stamp, to: Stamp) -> Result<Sums> {
        let mut sums = [0; CHANNELS];
        self.between(from, to, &mut |sample| {
            add(&mut sums, &sample);
            ControlFlow::Continue(())
        })?;
        Ok(sums)
    }

    fn seconds(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        self.whole_seconds(first, last, &mut keep(into))
    }

    /// A record holds all channels: what is fetched is what [`seconds`](Self::seconds) fetches.
    fn angles(&mut self, first: i64, last: i64, into: &mut Vec<Sample>) -> Result<()> {
        if self.layout == Layout::Seconds {
            return Err(one_value());
        }
        self.whole_seconds(first, last, &mut |sample| {
            let values = [sample.values[0], 0, 0, 0, 0];
            into.push(Sample { values, ..sample });
            ControlFlow::Continue(())
        })
    }

    fn others(&mut self, from: Stamp, to: Stamp, into: &mut Vec<Sample>) -> Result<()> {
        self.between(from, to, &mut |mut sample| {
            sample.values[0] = 0;
            into.push(sample);
            ControlFlow::Continue(())
        })
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        let (layout, mut newest) = (self.layout, None);
        self.scan(Range::default().backward(), &mut |sample| {
            newest = newest.max(Some(sample.at));
            match layout {
                Layout::Samples => ControlFlow::Break(()),
                // The last of the newest second; what lies before that is older.
                Layout::Seconds => match newest {
                    Some(at) if at.s > sample.at.s => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                },
            }
        })?;
        Ok(newest)
    }

    fn contents(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.scan(Range::default(), visit)
    }

    fn maintain(&mut self) -> Result<()> {
        self.store.maintain()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
