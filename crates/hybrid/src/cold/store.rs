//! The front's data about chunks: which exist, and which of their rows are invalid.

use std::collections::HashMap;
use std::ops::ControlFlow;

use embermark_contract::kv::{KvStore, Operations, Range, Table, TableDef, beyond};
use embermark_contract::{EngineError, Result, Scope};

use super::tables::{ArchivedTable, Chunk};
use crate::NAME;
use crate::shared::Shared;

/// The front's tables for the chunks.
#[derive(Clone, Copy)]
pub(crate) struct ColdTables {
    /// Under a table's number: the number of its newest run and the name of its time column. Under
    /// that number and those of a run and a file: a chunk.
    chunks: Table,
    /// Under a table's number and a key: the number of the newest run when the key changed.
    invalidations: Table,
}

/// The numbers under which keys are recorded as changed.
pub(crate) type Invalidations = HashMap<Vec<u8>, u32>;

fn chunk_key(id: u8, chunk: &Chunk) -> Vec<u8> {
    [&[id][..], &chunk.run.to_be_bytes(), &chunk.part.to_be_bytes()].concat()
}

fn invalidation_key(id: u8, key: &[u8]) -> Vec<u8> {
    [&[id], key].concat()
}

impl ColdTables {
    pub fn open(front: &mut dyn KvStore) -> Result<Self> {
        let chunks = front.table(&TableDef::named("hybridcold"))?;
        Ok(Self { chunks, invalidations: front.table(&TableDef::named("hybridgone"))? })
    }

    /// Returns the data about every table that was archived.
    pub fn archived_tables(&self, front: &mut dyn KvStore) -> Result<Vec<(u8, ArchivedTable)>> {
        let odd = |key: &[u8]| {
            let why = format!("the catalog entry {key:?} does not have this version's format");
            EngineError::failed(NAME, "find its cold chunks", why)
        };
        let mut found: Vec<(u8, ArchivedTable, Vec<Chunk>)> = Vec::new();
        front.within(Scope::Snapshot, |snapshot| {
            snapshot.try_scan(self.chunks, Range::default(), |key, value| {
                let entered = match (key, found.last_mut()) {
                    (&[id], _) => {
                        decode_table(value).map(|archived| found.push((id, archived, Vec::new())))
                    }
                    (&[id, ref numbers @ ..], Some((known, _, chunks))) if *known == id => {
                        decode_chunk(numbers, value).map(|chunk| chunks.push(chunk))
                    }
                    _ => None,
                };
                entered.map(ControlFlow::Continue).ok_or_else(|| odd(key))
            })
        })?;
        let archived = found.into_iter().map(|(id, mut archived, chunks)| {
            archived.set_chunks(chunks);
            (id, archived)
        });
        Ok(archived.collect())
    }

    /// Stores that a run has begun.
    pub fn put_table(
        &self,
        batch: &mut dyn Operations,
        id: u8,
        archived: &ArchivedTable,
    ) -> Result<()> {
        let value = [&archived.newest.to_be_bytes(), archived.column.as_bytes()].concat();
        batch.put(self.chunks, &[id], &value)
    }

    pub fn put_chunk(&self, batch: &mut dyn Operations, id: u8, chunk: &Chunk) -> Result<()> {
        let Chunk { before, times: (lowest, highest), rows, removes_pairs, file, .. } = chunk;
        let numbers = [before.to_be_bytes(), lowest.to_be_bytes(), highest.to_be_bytes()];
        let rows = rows.to_be_bytes();
        let value =
            [&numbers.concat(), &rows[..], &[u8::from(*removes_pairs)], file.as_bytes()].concat();
        batch.put(self.chunks, &chunk_key(id, chunk), &value)
    }

    pub fn remove_chunk(&self, batch: &mut dyn Operations, id: u8, chunk: &Chunk) -> Result<()> {
        batch.delete(self.chunks, &chunk_key(id, chunk)).map(drop)
    }

    /// Returns the number under which a key is recorded as changed.
    pub fn invalidation(&self, of: &mut dyn Operations, id: u8, key: &[u8]) -> Result<Option<u32>> {
        Ok(of.get(self.invalidations, &invalidation_key(id, key))?.and_then(number))
    }

    /// Returns all such numbers of a table for keys starting at `from`.
    pub fn invalidations(
        &self,
        snapshot: &mut dyn Operations,
        id: u8,
        from: &[u8],
    ) -> Result<Invalidations> {
        let mut found = Invalidations::new();
        let (from, to) = (invalidation_key(id, from), beyond(&[id]));
        snapshot.scan(
            self.invalidations,
            Range::between(&from, to.as_deref()),
            &mut |key, value| {
                found.extend(number(value).map(|number| (key[1..].to_vec(), number)));
                ControlFlow::Continue(())
            },
        )?;
        Ok(found)
    }

    /// Whether any key of a table has such a number.
    pub fn has_invalidations(&self, snapshot: &mut dyn Operations, id: u8) -> Result<bool> {
        let to = beyond(&[id]);
        let first = snapshot.first_key(self.invalidations, Range::between(&[id], to.as_deref()))?;
        Ok(first.is_some())
    }

    /// Removes the numbers of a table's keys below `oldest`, because every chunk is newer.
    pub fn remove_invalidations(
        &self,
        batch: &mut dyn Operations,
        id: u8,
        oldest: u32,
    ) -> Result<()> {
        let gone = self.invalidations(batch, id, &[])?;
        for (key, _) in gone.iter().filter(|(_, number)| **number < oldest) {
            batch.delete(self.invalidations, &invalidation_key(id, key))?;
        }
        Ok(())
    }
}

/// Records the change of a key of a table that was archived, in the transaction that changes it.
/// Returns whether this was necessary.
pub(crate) fn record_change(
    batch: &mut dyn Operations,
    tables: ColdTables,
    shared: &Shared,
    (id, key): (u8, &[u8]),
) -> Result<bool> {
    let number = shared.cold.get(id).and_then(|archived| archived.invalidation_run(key));
    let Some(number) = number else { return Ok(false) };
    batch.put(tables.invalidations, &invalidation_key(id, key), &number.to_be_bytes())?;
    Ok(true)
}

fn number(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_be_bytes)
}

fn decode_table(value: &[u8]) -> Option<ArchivedTable> {
    let (newest, column) = value.split_first_chunk()?;
    let (newest, column) = (u32::from_be_bytes(*newest), str::from_utf8(column).ok()?.to_owned());
    Some(ArchivedTable::new(newest, column))
}

fn decode_chunk(numbers: &[u8], value: &[u8]) -> Option<Chunk> {
    let (run, part) = numbers.split_first_chunk()?;
    let (before, value) = value.split_first_chunk()?;
    let (lowest, value) = value.split_first_chunk()?;
    let (highest, value) = value.split_first_chunk()?;
    let (rows, value) = value.split_first_chunk()?;
    let (removes_pairs, file) = value.split_first()?;
    Some(Chunk {
        run: u32::from_be_bytes(*run),
        part: number(part)?,
        before: i64::from_be_bytes(*before),
        times: (i64::from_be_bytes(*lowest), i64::from_be_bytes(*highest)),
        rows: u64::from_be_bytes(*rows),
        removes_pairs: *removes_pairs == 1,
        file: str::from_utf8(file).ok()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cold_under_a_later_run_that_reaches_it() {
        let chunk = |run, before, removes_pairs| Chunk {
            run,
            part: 0,
            before,
            times: (0, 1),
            rows: 1,
            removes_pairs,
            file: String::new(),
        };
        let mut archived = ArchivedTable::default();
        archived.set_chunks(vec![
            chunk(1, 10, false),
            chunk(2, 90, true),
            chunk(3, 30, false),
            chunk(3, 30, false),
            chunk(5, 20, false),
        ]);
        assert_eq!(archived.bound, Some(90));
        let cold = |time, gone| archived.is_cold(time, gone);
        assert!(cold(29, None) && !cold(30, None));
        assert!(cold(29, Some(2)) && !cold(29, Some(3)));
        assert!(cold(19, Some(4)) && !cold(19, Some(5)));
    }
}
