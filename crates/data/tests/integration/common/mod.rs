//! Helpers that the tests of readers share.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod log;
pub mod tables;

use std::io::Write;
use std::path::PathBuf;

use embermark_data::{DataError, Log, lab};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// A file with these bytes. It is removed when the folder is dropped.
pub fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.txt");
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

pub fn read(bytes: &[u8]) -> Result<Log, DataError> {
    let (_dir, path) = file(bytes);
    lab::read(&path)
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A good line with its line end.
pub fn line(sensor: u16, second: u32) -> String {
    format!("2004-02-28 00:59:{second:02} 3 {sensor} 19.9884 37.0933 45.08 2.69964\n")
}
