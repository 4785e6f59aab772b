//! A machine's log in a key-value store: a record of five values per sample, or a record of all
//! samples per second. Keys are big-endian, so they are in the order of time.

use std::ops::ControlFlow;
use std::sync::Arc;

use embermark_contract::kv::{KvStore, Pairs, Range, Table, TableDef};
use embermark_contract::{Lifecycle, Result, Scope};
use embermark_data::machine::{History, Sample, Stamp};
use embermark_model::result::Execution;

use super::columns::Columns;
use super::encoding;
use super::machine_log::{Channels, Layout, MachineLog, Seek, Span, Visit};

pub(super) struct KvLog {
    store: Box<dyn KvStore>,
    layout: Layout,
    table: Table,
    record: Record,
}

/// Returns the length of a key: a time, or only its second.
const fn key_length(layout: Layout) -> usize {
    match layout {
        Layout::Samples => encoding::STAMP,
        Layout::Seconds => encoding::SECOND,
    }
}

impl KvLog {
    pub(super) fn new(mut store: Box<dyn KvStore>, layout: Layout) -> Result<Self> {
        let name = if layout == Layout::Samples { "sample" } else { "second" };
        let key_length = Some(key_length(layout));
        let table = store.table(&TableDef { name, key_length, indexes: &[] })?;
        if let (Layout::Samples, Some(mirror)) = (layout, store.mirror()) {
            mirror.show(table, Arc::new(Columns))?;
        }
        Ok(Self { store, layout, table, record: Record::default() })
    }

    /// Visits samples between two keys until `visit` breaks. Each scan is one snapshot.
    fn scan(
        &mut self,
        range: Range<'_>,
        visit: &mut dyn FnMut(Sample) -> ControlFlow<()>,
    ) -> Result<()> {
        let (layout, table, mut failed) = (self.layout, self.table, None);
        let mut see = |key: &[u8], value: &[u8]| {
            let mut flow = ControlFlow::Continue(());
            let seen = match layout {
                Layout::Samples => encoding::stamp(key).and_then(|at| {
                    flow = visit(Sample { at, values: encoding::values(value)? });
                    Ok(())
                }),
                Layout::Seconds => encoding::second(key).and_then(|s| {
                    encoding::unpack(s, value, |sample| {
                        if flow.is_continue() {
                            flow = visit(sample);
                        }
                    })
                }),
            };
            seen.map_or_else(
                |error| {
                    failed = Some(error);
                    ControlFlow::Break(())
                },
                |()| flow,
            )
        };
        self.store.within(Scope::Snapshot, |snapshot| snapshot.scan(table, range, &mut see))?;
        failed.map_or(Ok(()), Err)
    }
}

/// A record as bytes.
#[derive(Default)]
struct Record {
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Record {
    fn encode(&mut self, layout: Layout, samples: &[Sample]) {
        self.key.clear();
        self.key.extend_from_slice(&encoding::stamp_key(samples[0].at)[..key_length(layout)]);
        self.value.clear();
        match layout {
            Layout::Samples => self.value.extend(encoding::values_bytes(&samples[0].values)),
            Layout::Seconds => encoding::pack(samples, &mut self.value),
        }
    }
}

struct HistoryPairs {
    records: Box<dyn Iterator<Item = Vec<Sample>>>,
    layout: Layout,
    record: Record,
}

impl Pairs for HistoryPairs {
    fn next(&mut self) -> Option<(&[u8], &[u8])> {
        self.record.encode(self.layout, &self.records.next()?);
        Some((&self.record.key, &self.record.value))
    }
}

impl MachineLog for KvLog {
    fn search_execution(&self) -> Option<Execution> {
        (self.layout == Layout::Samples).then_some(Execution::ClientSide)
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn write(&mut self, samples: &[Sample]) -> Result<()> {
        let Self { store, layout, table, record } = self;
        record.encode(*layout, samples);
        store.within(Scope::PerOperation, |each| each.put(*table, &record.key, &record.value))
    }

    fn load(&mut self, history: &History) -> Result<()> {
        let layout = self.layout;
        let records: Box<dyn Iterator<Item = Vec<Sample>>> = match layout {
            Layout::Samples => Box::new(history.samples().map(|sample| vec![sample])),
            Layout::Seconds => Box::new(history.seconds()),
        };
        let mut pairs = HistoryPairs { records, layout, record: Record::default() };
        self.store.bulk(self.table, &mut pairs).map(drop)
    }

    /// Reads all channels of a record, because a record has all, and clears those not selected.
    fn visit(&mut self, span: Span, channels: Channels, visit: &mut Visit<'_>) -> Result<()> {
        let length = key_length(self.layout);
        let keys = span.bounds().map(|ends| ends.map(encoding::stamp_key));
        let range = keys.as_ref().map_or_else(Range::default, |[from, to]| {
            Range::between(&from[..length], Some(&to[..length]))
        });
        self.scan(range, &mut |sample| {
            visit(channels.select(sample));
            ControlFlow::Continue(())
        })
    }

    fn newest(&mut self) -> Result<Option<Stamp>> {
        let (layout, mut newest) = (self.layout, None);
        self.scan(Range::default().backward(), &mut |sample| {
            newest = newest.max(Some(sample.at));
            match layout {
                Layout::Samples => ControlFlow::Break(()),
                // The last sample of the newest second. Everything before that is older.
                Layout::Seconds => match newest {
                    Some(at) if at.s > sample.at.s => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                },
            }
        })?;
        Ok(newest)
    }

    fn seek(&mut self, seek: Seek, at: Stamp) -> Result<Option<Stamp>> {
        let bound = encoding::stamp_key(if seek.forward() { at.next() } else { at });
        let range = match seek.forward() {
            true => Range::between(&bound, None),
            false => Range { to: Some(&bound), ..Range::default() }.backward(),
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

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
