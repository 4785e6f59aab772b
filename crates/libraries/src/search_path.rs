//! Finds programs on the search path.

use std::env;
use std::path::{Path, PathBuf};

/// Returns the folders of the search path.
pub fn folders() -> Vec<PathBuf> {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect()
}

/// Finds a program on the search path.
pub fn on_search_path(program: &str) -> Option<PathBuf> {
    folders().into_iter().map(|folder| folder.join(program)).find(|path| is_program(path))
}

/// Whether a path is an absolute path of a file. A relative path does not count, because programs
/// are not started in this process's folder.
pub fn is_program(path: &Path) -> bool {
    path.is_absolute() && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::on_search_path;

    #[test]
    fn the_search_path_has_a_shell_and_no_program_of_an_unknown_name() {
        assert!(on_search_path("sh").unwrap().is_absolute());
        assert_eq!(on_search_path("no-program-has-this-name"), None);
    }
}
