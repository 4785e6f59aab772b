//! Tests what `scripts/test.sh` prints at its end.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod list;
