//! The types that every part of embermark shares. Plain data, no I/O.

pub mod answer;
pub mod card;
pub mod cell;
pub mod choice;
pub mod client;
pub mod configuration;
pub mod durability;
pub mod durability_result;
pub mod engine_library;
pub mod explained;
pub mod fingerprint;
pub mod foreign;
pub mod memory_limit;
pub mod plan;
pub mod reading;
pub mod result;
pub mod result_set;
pub mod scale;
pub mod storage;
pub mod table;
pub mod tuning_result;
pub mod url;

pub use card::Card;
pub use cell::{CellId, Conditions, Extent, Status};
pub use client::{Client, NoClient};
pub use configuration::{Configuration, Configurations};
pub use durability::Durability;
pub use engine_library::EngineLibrary;
pub use explained::{Explained, StandsOut};
pub use memory_limit::MemoryLimit;
pub use reading::{Key, Reading};
pub use result_set::ResultSet;
pub use scale::Scale;
pub use storage::{Storage, StorageName};
pub use url::ServerUrl;
