//! Memory and sizes on the command line.

use bytesize::ByteSize;
use embermark_model::MemoryLimit;

use super::unique;
use crate::error::Failure;

/// Parses memory limits. `none` is no limit. A given cache must fit into each.
pub fn memory_limits(
    texts: &[String],
    cache: Option<&str>,
) -> Result<Vec<Option<MemoryLimit>>, Failure> {
    let limit = |text: &String| match text.as_str() {
        "none" => Ok(None),
        text => size("--memory-limit", text).map(|bytes| Some(MemoryLimit(bytes))),
    };
    let limits = unique(texts.iter().map(limit))?;
    let asked = cache.map_or(Ok(0), self::cache)?;
    match limits.iter().flatten().find(|limit| limit.cache(asked) < asked) {
        Some(limit) => Err(usage!(
            "--cache {} leaves too little of --memory-limit {limit} for the page cache and the rest \
             of an engine: give at most a quarter, {}, or leave --cache out",
            cache.unwrap_or_default(),
            MemoryLimit(limit.cache(asked))
        )),
        None => Ok(limits),
    }
}

/// Parses the size of --cache.
pub fn cache(text: &str) -> Result<u64, Failure> {
    size_from(1, "--cache", text)
}

/// Parses the size of an option, in bytes, which is at least this many MiB.
pub(super) fn size_from(mib: u64, option: &str, text: &str) -> Result<u64, Failure> {
    match size(option, text)? {
        bytes if bytes >= mib << 20 => Ok(bytes),
        _ => Err(usage!("{option} {text} is too little: give at least {mib}MiB")),
    }
}

/// Parses the size of an option, in bytes.
pub fn size(option: &str, text: &str) -> Result<u64, Failure> {
    text.parse::<ByteSize>()
        .map(|ByteSize(bytes)| bytes)
        .map_err(|_| usage!("{option} '{text}' is not a size: write for example 64MiB or 1GB"))
}
