//! Recorded devices and traced writes, on real block devices.

#![allow(clippy::unwrap_used, reason = "a test fails at an error")]

mod device;
mod timed;
mod traced;
