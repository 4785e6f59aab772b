//! Tests the list that `scripts/test.sh` prints at its end.

#![allow(clippy::unwrap_used, reason = "a test fails at an error")]

mod list;
