//! A store of a test's own.

use embermark_contract::{Lifecycle, Result};
use embermark_meter::Meter;

use super::phase::Phase;
use super::port::{Record, Stored, Telemetry};
use super::query_results::QueryResults;

/// Does with rows what a test says, and nothing else.
pub(super) struct Fake<F>(pub F);

impl<F: FnMut(&[Record]) -> Result<u64>> Telemetry for Fake<F> {
    fn insert_one(&mut self, record: &Record) -> Result<u64> {
        self.0(std::slice::from_ref(record))
    }

    fn insert_batch(&mut self, batch: &[Record]) -> Result<u64> {
        self.0(batch)
    }

    fn clear(&mut self) -> Result<()> {
        unreachable!("nothing is cleared")
    }

    fn insert(&mut self, _: &[Record], _: &mut Meter) -> Result<u64> {
        unreachable!("nothing is inserted by itself")
    }

    fn ask(&mut self, _: Phase, _: &mut QueryResults) -> Result<()> {
        unreachable!("nothing is asked")
    }

    fn contents(&mut self, _: &mut dyn FnMut(&Stored<'_>)) -> Result<()> {
        unreachable!("nothing is read back")
    }

    fn reopen(&mut self) -> Result<()> {
        unreachable!("nothing is opened again")
    }

    fn first(&mut self) -> Result<u64> {
        unreachable!("nothing is read")
    }

    fn lifecycle(&mut self) -> &mut dyn Lifecycle {
        unreachable!("nothing is maintained")
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
