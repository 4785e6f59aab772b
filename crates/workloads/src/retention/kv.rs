//! Rows in a key-value store. A key is a time and a sensor, big-endian, so that the order of keys is that of
//! time; what goes is a range of keys.

use std::ops::{ControlFlow, Range as Numbers};

use embermark_contract::kv::{KvStore, Range, Table, TableDef};
use embermark_contract::{Lifecycle, Result, Scope};

use super::port::{RetentionLog, Visit, broken};
use super::questions::{Found, Question};
use super::rows::{Row, Rows};

/// Bytes of a key: the time and the sensor.
const KEY: usize = 12;

/// Bytes of a value: temperature, humidity, battery.
const VALUE: usize = 20;

pub(super) struct KvLog {
    store: Box<dyn KvStore>,
    table: Table,
}

impl KvLog {
    pub(super) fn new(mut store: Box<dyn KvStore>) -> Result<Self> {
        let table =
            store.table(&TableDef { name: "reading", key_length: Some(KEY), indexes: &[] })?;
        Ok(Self { store, table })
    }

    /// Visits rows of a range of times until it has enough, in one snapshot.
    fn scan(
        &mut self,
        range: Range<'_>,
        visit: &mut dyn FnMut(Row) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (table, mut failed) = (self.table, None);
        self.store.within(Scope::Snapshot, |snapshot| {
            snapshot.scan(table, range, &mut |key, value| match decoded(key, value)
                .and_then(&mut *visit)
            {
                Ok(go_on) => go_on,
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            })
        })?;
        failed.map_or(Ok(()), Err)
    }
}

/// The key of a time and a sensor. Times are after 1970.
fn key_of(time_ms: i64, sensor: i32) -> [u8; KEY] {
    let mut key = [0; KEY];
    key[..8].copy_from_slice(&time_ms.to_be_bytes());
    key[8..].copy_from_slice(&sensor.to_be_bytes());
    key
}

fn value_of(row: &Row) -> [u8; VALUE] {
    let mut value = [0; VALUE];
    value[..8].copy_from_slice(&row.temperature.to_le_bytes());
    value[8..16].copy_from_slice(&row.humidity.to_le_bytes());
    value[16..].copy_from_slice(&row.battery.to_le_bytes());
    value
}

fn decoded(key: &[u8], value: &[u8]) -> Result<Row> {
    let key: &[u8; KEY] = key.try_into().map_err(|_| broken("its key has another length"))?;
    let value: &[u8; VALUE] =
        value.try_into().map_err(|_| broken("its value has another length"))?;
    let eight = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).unwrap_or_default();
    let four = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).unwrap_or_default();
    Ok(Row {
        time_ms: i64::from_be_bytes(eight(&key[..8])),
        sensor: i32::from_be_bytes(four(&key[8..])),
        temperature: f64::from_le_bytes(eight(&value[..8])),
        humidity: f64::from_le_bytes(eight(&value[8..16])),
        battery: i32::from_le_bytes(four(&value[16..])),
    })
}

impl RetentionLog for KvLog {
    fn create(&mut self) -> Result<()> {
        self.store.clear(self.table)
    }

    fn insert(&mut self, row: &Row) -> Result<()> {
        let (table, key, value) = (self.table, key_of(row.time_ms, row.sensor), value_of(row));
        self.store.within(Scope::PerOperation, |each| each.put(table, &key, &value))
    }

    fn insert_all(&mut self, rows: &Rows, numbers: Numbers<u64>) -> Result<()> {
        let table = self.table;
        self.store.within(Scope::Batch, |batch| {
            for number in numbers {
                let row = rows.row(number);
                batch.put(table, &key_of(row.time_ms, row.sensor), &value_of(&row))?;
            }
            Ok(())
        })
    }

    fn expire(&mut self, hour: u64) -> Result<()> {
        let [from, to] = [hour, hour + 1].map(|hour| key_of(Rows::hour_ms(hour), 0));
        self.store.delete_range(self.table, &from, &to)
    }

    fn expiry(&self) -> String {
        self.store.deletes_range().to_owned()
    }

    fn ask(&mut self, question: &Question, found: &mut Found) -> Result<()> {
        match *question {
            Question::Newest { sensor } => self.scan(Range::default().backward(), &mut |row| {
                if row.sensor != sensor {
                    return Ok(ControlFlow::Continue(()));
                }
                found.rows.push(row);
                Ok(ControlFlow::Break(()))
            }),
            Question::Range { sensor, from_ms, to_ms } => {
                let [from, to] = [from_ms, to_ms].map(|time_ms| key_of(time_ms, 0));
                self.scan(Range::between(&from, Some(&to)), &mut |row| {
                    found.rows.extend((row.sensor == sensor).then_some(row));
                    Ok(ControlFlow::Continue(()))
                })
            }
            Question::Mean { from_ms, to_ms } => {
                let [from, to] = [from_ms, to_ms].map(|time_ms| key_of(time_ms, 0));
                let (mut sum, mut count) = (0.0, 0_u64);
                self.scan(Range::between(&from, Some(&to)), &mut |row| {
                    (sum, count) = (sum + row.temperature, count + 1);
                    Ok(ControlFlow::Continue(()))
                })?;
                found.mean = (count > 0).then(|| sum / count as f64);
                Ok(())
            }
        }
    }

    fn count(&mut self) -> Result<Option<u64>> {
        let table = self.table;
        self.store.within(Scope::Snapshot, |snapshot| snapshot.count(table))
    }

    fn visit(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.scan(Range::default(), &mut |row| visit(row).map(|()| ControlFlow::Continue(())))
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        &mut *self.store
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}
