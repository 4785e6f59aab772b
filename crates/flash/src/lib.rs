//! A model of the flash translation layer of a card: how many bytes are programmed into its flash,
//! and how many blocks erased, for what reached a block device. It does no I/O and knows nothing of
//! databases.
//!
//! There are two kinds of card ([`Mapping`]). One has a table entry for every page, and cleans
//! blocks to make room. The other has an entry for every erase block, and a log block for each of a
//! few. It merges one of them when another one is written to. [`model_of`] makes the model of a
//! [`Card`] at one [`End`] of its parameters. [`replay`] feeds it with a device's
//! [accesses](embermark_blockdev::Access) until the card is in a steady state. `docs/flash.md` lists
//! the assumptions.

mod buffer;
mod built_in;
mod file;
mod ledger;
mod log_blocks;
mod page_mapped;
mod replay;
mod victims;

pub use buffer::Buffer;
pub use built_in::{CARDS, built_in, names};
pub use embermark_model::card::{Card, Cleaning, End, Mapping, Spread};
pub use file::{CardError, parse, parse_like};
pub use ledger::Cost;
pub use log_blocks::LogBlocks;
pub use page_mapped::{Geometry, PageMapped};
pub use replay::{DeviceTooLarge, Replayed, Window, Work, model_of, replay};

/// Work of a flash translation layer so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    /// Number of pages programmed, including its own copies.
    pub pages: u64,
    /// Number of blocks erased.
    pub erases: u64,
}

/// The model of a flash translation layer. A unit is what its table has an entry for: a page or a
/// part of one.
pub trait Translation: Send {
    /// Returns the size of a unit in bytes.
    fn unit_bytes(&self) -> u64;

    /// Returns the size of a page in bytes.
    fn page_bytes(&self) -> u64;

    /// Writes units into flash, one after the other.
    fn program(&mut self, units: &[u32]);

    /// Makes what was written durable: a partly filled page is programmed as it is.
    fn pad(&mut self);

    /// Discards the content of a unit.
    fn discard(&mut self, unit: u32);

    /// Returns its work so far.
    fn done(&self) -> WorkCounts;

    /// Returns the number of programmed pages that are its own copies.
    fn copied_pages(&self) -> u64;

    /// Charges later writes to an account, as far as the model can attribute them.
    fn charge_to(&mut self, account: usize);

    /// Returns the charges so far, by account.
    fn costs(&self) -> &[Cost];

    /// Returns the number of pages that are programmed until the earlier content has no effect any
    /// more.
    fn round_pages(&self) -> u64;
}
