//! The C header and its mirror in Rust.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod layout;
