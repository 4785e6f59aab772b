//! Recorded devices and traced writes, on real block devices.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod device;
mod timed;
mod traced;
