//! The log in a key-value store.

use std::ops::ControlFlow;

use embermark_contract::kv::{KvStore, Operations, Range, Table, TableDef};
use embermark_contract::{Lifecycle, Result, Scope};
use embermark_meter::Meter;
use embermark_model::fingerprint::Checksum;
use embermark_model::result::Execution;
use embermark_model::{Key, Reading};

use super::columns::{Columns, Rows, Statements};
use super::phase::{PHASES, Phase};
use super::port::{Change, SensorLog};
use super::query_results::QueryResults;
use super::range::{self, Span, SpanChange};
use super::row_source::RowSource;
use super::scan::{self, Readings};
use super::variant::Variant;
use super::{answers, codec};
use crate::Strategy;
use crate::mirrored::Mirrored;
use crate::reopenable::Reopenable;

/// The log in a key-value store: one table of encoded readings.
pub(super) struct KvLog {
    store: Reopenable<dyn KvStore>,
    table: Table,
    /// The same in columns.
    mirrored: Statements,
    /// By phase, the name of a question asked of one sensor.
    of_one: Vec<String>,
}

fn table(store: &mut dyn KvStore) -> Result<Table> {
    let key_length = Some(size_of::<codec::KeyBytes>());
    store.table(&TableDef { name: "readings", key_length, indexes: &[] })
}

impl KvLog {
    pub(super) fn new(mut store: Reopenable<dyn KvStore>) -> Result<Self> {
        let table = table(&mut *store)?;
        let mirrored = Mirrored::show(&mut *store, table, Columns)?;
        let of_one = PHASES.iter().map(|phase| format!("{} of one", phase.name)).collect();
        Ok(Self { store, table, mirrored, of_one })
    }

    /// Does `work` in one scope.
    fn within<T>(
        &mut self,
        scope: Scope,
        work: impl FnOnce(&mut dyn Operations, Table) -> Result<T>,
    ) -> Result<T> {
        let Self { store, table, .. } = self;
        store.within(scope, |operations| work(operations, *table))
    }
}

/// Visits the pairs of a range of readings, as copies.
fn within(
    operations: &mut dyn Operations,
    table: Table,
    span: &Span,
    mut visit: impl FnMut(codec::KeyBytes, codec::ValueBytes),
) -> Result<()> {
    let (from, to) = span.keys();
    let (from, to) = (codec::encode_key(from), codec::encode_key(to));
    operations.scan(table, Range::between(&from, Some(&to)), &mut |key, value| {
        // A pair of another shape is no reading: what is read back afterwards shows it.
        if let (Ok(key), Ok(value)) = (key.try_into(), value.try_into()) {
            visit(key, value);
        }
        ControlFlow::Continue(())
    })
}

/// The table in a snapshot.
struct KvReadings<'a> {
    snapshot: &'a mut dyn Operations,
    table: Table,
}

impl Readings for KvReadings<'_> {
    fn visit(
        &mut self,
        sensor: Option<u16>,
        mut visit: impl FnMut(Key, Option<f64>),
    ) -> Result<()> {
        let bounds = sensor.map(codec::bounds);
        let range = match &bounds {
            None => Range::default(),
            Some((from, to)) => Range::between(from, to.as_ref().map(|to| &to[..])),
        };
        self.snapshot.scan(self.table, range, &mut |key, value| {
            visit(codec::decode_key(key), codec::temperature(value));
            ControlFlow::Continue(())
        })
    }
}

impl SensorLog for KvLog {
    fn execution(&self, step: Phase, of: Variant) -> Execution {
        let scans = step.is_question() || of.changes_ranges(step);
        if scans { Execution::ClientSide } else { Execution::Native }
    }

    fn answered_by(&self) -> Option<Execution> {
        self.mirrored.answered_by(Execution::ClientSide)
    }

    fn ready(&mut self, _: Phase, _: Variant) -> Result<()> {
        self.mirrored.begin();
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn reopen(&mut self) -> Result<()> {
        self.store.reopen()?;
        self.table = table(&mut *self.store)?;
        self.mirrored = Mirrored::show(&mut *self.store, self.table, Columns)?;
        Ok(())
    }

    fn load(&mut self, rows: &[Reading], by: Strategy, meter: &mut Meter) -> Result<u64> {
        if by == Strategy::Bulk {
            let mut source = RowSource::new(rows, self.store.bulk_sorted(), meter);
            let loaded = self.store.bulk(self.table, &mut source)?;
            source.count_given();
            return Ok(loaded);
        }
        by.each(rows.len(), meter, |scope, part| {
            self.within(scope, |operations, table| {
                part.each(|i| {
                    let reading = &rows[i];
                    let key = codec::encode_key(reading.key());
                    operations.put(table, &key, &codec::encode_value(reading))
                })
            })
        })
    }

    fn read(&mut self, keys: &[Key], meter: &mut Meter) -> Result<Checksum> {
        self.within(Scope::Snapshot, |snapshot, table| {
            let mut found = Checksum::default();
            meter.each(keys.len() as u64, |i| {
                let key = keys[i];
                if let Some(value) = snapshot.get(table, &codec::encode_key(key))? {
                    found += &codec::decode(key, value);
                }
                Ok(())
            })?;
            Ok(found)
        })
    }

    fn last_readings(
        &mut self,
        sensors: &[u16],
        meter: &mut Meter,
        found: &mut Vec<Reading>,
    ) -> Result<()> {
        self.within(Scope::Snapshot, |snapshot, table| {
            meter.each(sensors.len() as u64, |i| {
                let (from, to) = codec::bounds(sensors[i]);
                let range = Range::between(&from, to.as_ref().map(|to| &to[..])).backward();
                snapshot.scan(table, range, &mut |key, value| {
                    found.push(codec::decode(codec::decode_key(key), value));
                    ControlFlow::Break(())
                })
            })?;
            Ok(())
        })
    }

    fn update(&mut self, changes: &[Change], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut changed = 0;
        by.each(changes.len(), meter, |scope, part| {
            self.within(scope, |operations, table| {
                part.each(|i| {
                    let Change { key, temperature } = changes[i];
                    let there =
                        operations.modify(table, &codec::encode_key(key), &mut |value| {
                            codec::set_temperature(value, temperature);
                        })?;
                    changed += u64::from(there);
                    Ok(())
                })
            })
        })?;
        Ok(changed)
    }

    fn delete(&mut self, keys: &[Key], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let mut deleted = 0;
        by.each(keys.len(), meter, |scope, part| {
            self.within(scope, |operations, table| {
                part.each(|i| {
                    deleted += u64::from(operations.delete(table, &codec::encode_key(keys[i]))?);
                    Ok(())
                })
            })
        })?;
        Ok(deleted)
    }

    /// By a scan of each range, and a put for each pair that it found.
    fn update_ranges(
        &mut self,
        changes: &[SpanChange],
        by: Strategy,
        meter: &mut Meter,
    ) -> Result<u64> {
        let (mut changed, mut found) = (0, Vec::with_capacity(range::READINGS));
        by.each(changes.len(), meter, |scope, part| {
            self.within(scope, |operations, table| {
                part.each(|i| {
                    let SpanChange { span, temperature } = &changes[i];
                    within(operations, table, span, |key, value| found.push((key, value)))?;
                    changed += found.len() as u64;
                    found.drain(..).try_for_each(|(key, mut value)| {
                        codec::set_temperature(&mut value, *temperature);
                        operations.put(table, &key, &value)
                    })
                })
            })
        })?;
        Ok(changed)
    }

    /// By a scan of each range, and a deletion for each key that it found.
    fn delete_ranges(&mut self, spans: &[Span], by: Strategy, meter: &mut Meter) -> Result<u64> {
        let (mut deleted, mut found) = (0, Vec::with_capacity(range::READINGS));
        by.each(spans.len(), meter, |scope, part| {
            self.within(scope, |operations, table| {
                part.each(|i| {
                    within(operations, table, &spans[i], |key, _| found.push(key))?;
                    found.drain(..).try_for_each(|key| {
                        deleted += u64::from(operations.delete(table, &key)?);
                        Ok(())
                    })
                })
            })
        })?;
        Ok(deleted)
    }

    fn ask(&mut self, question: Phase, of: Option<u16>, found: &mut QueryResults) -> Result<()> {
        let Self { store, table, mirrored, of_one } = self;
        let (table, before) = (*table, found.lengths());
        let name = if of.is_some() { &*of_one[question as usize] } else { question.name() };
        let side = store.ask(
            name,
            found,
            &mut |store, found| {
                found.truncate(before);
                store.within(Scope::Snapshot, |snapshot| {
                    scan::answer(KvReadings { snapshot, table }, question, of, found)
                })
            },
            &mut |sql, number, found| {
                found.truncate(before);
                answers::answer(
                    &mut Rows { sql, number, statements: mirrored },
                    question,
                    of,
                    found,
                )
            },
        )?;
        mirrored.answered(side);
        Ok(())
    }

    fn contents(&mut self, visit: &mut dyn FnMut(&Reading)) -> Result<()> {
        self.within(Scope::Snapshot, |snapshot, table| {
            snapshot.scan(table, Range::default(), &mut |key, value| {
                visit(&codec::decode(codec::decode_key(key), value));
                ControlFlow::Continue(())
            })
        })
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
