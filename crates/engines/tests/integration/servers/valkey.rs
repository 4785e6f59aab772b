//! What a given Valkey server holds of ours.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Returns the part before the first colon of the keys that belong to guests.
pub fn guests(url: &str) -> Vec<String> {
    let (password, place) = url.strip_prefix("valkey://:").unwrap().split_once('@').unwrap();
    let mut stream = TcpStream::connect(place).unwrap();
    let mut ask = |words: &str| {
        write!(stream, "{words}\r\n").unwrap();
        let mut said = Vec::new();
        let mut some = [0; 4096];
        // The answer is a list of strings: its length, then the length and the bytes of each
        // string.
        let lines = |said: &[u8]| {
            let said = String::from_utf8_lossy(said).into_owned();
            let count = said.strip_prefix('*')?.split_once("\r\n")?.0.parse::<usize>().ok()?;
            let lines: Vec<String> = said.split("\r\n").skip(1).map(str::to_owned).collect();
            (lines.len() > 2 * count).then_some(lines)
        };
        loop {
            let read = stream.read(&mut some).unwrap();
            assert!(read > 0, "it ended the connection");
            said.extend_from_slice(&some[..read]);
            if said.starts_with(b"+") {
                return Vec::new();
            }
            if let Some(lines) = lines(&said) {
                return lines;
            }
        }
    };
    ask(&format!("AUTH {password}"));
    // Keys with other bytes are rows, whose names have the same beginning.
    let keys = ask("KEYS embermark_*:tables");
    let names = keys.iter().filter_map(|key| key.split_once(':')).map(|(name, _)| name.to_owned());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}
