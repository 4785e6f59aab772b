//! Settings of a database, as the library stores them in the database's folder.

use std::fs;
use std::path::Path;

use super::ID;
use crate::wiredtiger::DURABLE_PARTS;
use crate::{EngineError, Result};

/// Returns the settings at creation, as the library stored them.
pub(super) fn created_with(folder: &Path) -> Result<Vec<(String, String)>> {
    let path = folder.join("WiredTiger.basecfg");
    let text = fs::read_to_string(&path).map_err(|e| EngineError::file(ID, "read", path, e))?;
    let text = text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(",");
    Ok(entries(&text).map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Returns the `name=value` pairs of a configuration. A value can be a list in parentheses.
fn entries(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut depth = 0;
    let entries = text.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    entries.filter_map(|entry| entry.split_once('='))
}

/// Returns the parts of the created settings that decide what a commit survives, each as
/// `log.enabled`. A setting that the library did not store has no parts.
pub(super) fn durable_parts(created: &[(String, String)]) -> Vec<(&'static str, String)> {
    let found = |&(name, default): &(&'static str, &str)| {
        let (setting, part) = name.split_once('.')?;
        let (_, value) = created.iter().find(|(known, _)| known == setting)?;
        let list = value.strip_prefix('(').and_then(|list| list.strip_suffix(')'))?;
        let found = entries(list).filter(|(known, _)| *known == part).last();
        Some((name, found.map_or(default, |(_, value)| value).to_owned()))
    };
    DURABLE_PARTS.iter().filter_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::{durable_parts, entries};

    #[test]
    fn a_list_in_parentheses_is_one_value() {
        let found: Vec<_> = entries("a=1,log=(enabled=true,path=(x,y)),create,b=").collect();
        assert_eq!(found, [("a", "1"), ("log", "(enabled=true,path=(x,y))"), ("b", "")]);
    }

    #[test]
    fn what_keeps_a_commit_is_found_in_any_order_and_otherwise_the_library_s_default() {
        let parts = |settings: &[(&str, &str)]| {
            let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
            let created: Vec<_> = settings.iter().map(owned).collect();
            let parts = durable_parts(&created).into_iter();
            parts.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        let log = ("log", "(file_max=16MB,zero_fill=true,enabled=true)");
        assert_eq!(parts(&[log]), "log.enabled=true");
        assert_eq!(
            parts(&[("log", "(file_max=16MB)"), ("transaction_sync", "(enabled=true)")]),
            "log.enabled=false transaction_sync.enabled=true transaction_sync.method=fsync"
        );
        assert_eq!(parts(&[("cache_size", "100MB")]), "");
    }
}
