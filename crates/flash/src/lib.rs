//! A model of the flash translation layer of a card: how many bytes are programmed into its flash, and
//! how many blocks erased, for what reached a block device. No I/O, and nothing of a database.
//!
//! Two kinds of card are known ([`Mapping`]): one with a place in a table for every page, which cleans
//! blocks to get room, and one with a place for every erase block, which has a log block for each of a
//! few and merges one of them when another one is written to. [`model_of`] makes the model of a [`Card`]
//! at one [`End`] of its parameters, and [`replay`] feeds it with [`Event`]s until the card is in a steady
//! state. `docs/flash.md` says what is taken for granted.

mod buffer;
mod built_in;
mod event;
mod file;
mod ledger;
mod log_blocks;
mod page_mapped;
mod replay;
mod victims;

pub use buffer::Buffer;
pub use built_in::{CARDS, built_in, names};
pub use embermark_model::card::{Card, Cleaning, End, Mapping, Spread};
pub use event::{Event, Kind};
pub use file::{CardError, parse, parse_like};
pub use ledger::Cost;
pub use log_blocks::LogBlocks;
pub use page_mapped::{Geometry, PageMapped};
pub use replay::{Refused, Replayed, Window, Work, model_of, replay};

/// What a flash translation layer has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Pages programmed, those that it copied itself included.
    pub pages: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// The model of a flash translation layer. A unit is what its table has a place for: a page or a part
/// of one.
pub trait Translation: Send {
    /// Bytes of a unit.
    fn unit_bytes(&self) -> u64;

    /// Bytes of a page.
    fn page_bytes(&self) -> u64;

    /// Writes units into flash, one after the other.
    fn program(&mut self, units: &[u32]);

    /// What was written is to be kept: a page that is filled in part is programmed as it is.
    fn pad(&mut self);

    /// Units whose content is given up.
    fn discard(&mut self, unit: u32);

    /// What it has done so far.
    fn done(&self) -> Done;

    /// Pages of these that it copied itself.
    fn copied_pages(&self) -> u64;

    /// Charges what is written from now on to an account, as far as it is known who it is for.
    fn charge_to(&mut self, account: usize);

    /// What was charged so far, by account.
    fn costs(&self) -> &[Cost];

    /// Pages that are programmed until whatever was there before no longer plays a part.
    fn round_pages(&self) -> u64;
}
