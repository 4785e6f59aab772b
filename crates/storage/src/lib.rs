//! Imitates storage devices that this machine does not have, by the time that each request takes.
//! `docs/storage.md` explains the model, its parameters and their sources, and its accuracy.

mod document;
mod file;
mod fitting;
mod imitation;
pub mod measure;
mod times;
mod typical;

pub use document::{Origin, predicted_us, to_toml};
pub use embermark_flash::DeviceTooLarge;
pub use file::{StorageError, built_in, built_in_toml, names, parse};
pub use fitting::fit_storage;
pub use imitation::{Imitated, ImitationError, Imitator};
pub use times::{FlashWork, Times};
pub use typical::Typical;
