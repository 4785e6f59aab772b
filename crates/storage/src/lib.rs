//! Storage devices that are not this machine's: imitated by how long each request takes, and measured to be imitated
//! elsewhere. `docs/storage.md` has the model, its parameters and their sources, and how well it holds.

mod built_in;
mod file;
mod imitation;
mod times;

pub use built_in::{STORAGES, built_in, names, text_of};
pub use embermark_flash::Refused;
pub use file::{StorageError, parse};
pub use imitation::{Imitated, ImitationError, Imitator};
pub use times::Times;
