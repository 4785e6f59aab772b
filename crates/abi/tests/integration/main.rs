//! The C header and its mirror in Rust.

#![allow(clippy::unwrap_used, reason = "a test fails at an error")]

mod layout;
