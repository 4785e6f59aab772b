//! Settings of a database, as the library stores them in the database's folder.

use std::fs;
use std::path::Path;

use super::ID;
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

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn a_list_in_parentheses_is_one_value() {
        let found: Vec<_> = entries("a=1,log=(enabled=true,path=(x,y)),create,b=").collect();
        assert_eq!(found, [("a", "1"), ("log", "(enabled=true,path=(x,y))"), ("b", "")]);
    }
}
