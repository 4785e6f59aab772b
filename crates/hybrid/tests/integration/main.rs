//! The hybrid store: its model, its clients, and kills.

#![allow(clippy::unwrap_used, reason = "a test fails at an error")]

mod clients;
mod cold;
mod cold_clients;
mod cold_kill;
mod cold_model;
mod common;
mod kill;
mod model;
mod rebuild;
