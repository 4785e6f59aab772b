//! Imitates storage devices that this machine does not have, by the time that each request takes.
//! `docs/storage.md` explains the model, its parameters and their sources, and its accuracy.

mod awake;
mod built_in;
mod document;
mod file;
mod fit;
mod imitation;
pub mod measure;
mod times;
mod typical;

pub use built_in::{STORAGES, names, text_of};
pub use document::{Origin, predicted_us, text};
pub use embermark_flash::Refused;
pub use file::{StorageError, built_in, parse};
pub use fit::fitted;
pub use imitation::{Imitated, ImitationError, Imitator};
pub use times::{FlashWork, Times};
pub use typical::Typical;
