//! The document of published comparisons is made from the results that are kept.

use std::fs;
use std::path::PathBuf;

use embermark_model::result::ResultFile;
use embermark_report::{load, reproduction};

/// Limit of the total size of the kept results, in bytes.
const ROOM: u64 = 20 << 20;

fn kept() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from("../../results/published")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name == "result.json") {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    files
}

#[test]
fn it_is_made_of_the_kept_results_and_of_nothing_else() {
    let results: Vec<ResultFile> = kept().iter().map(|path| load(path).unwrap()).collect();
    let (document, made) = ("../../docs/reproduction.md", reproduction::markdown(&results));
    if std::env::var_os("EMBERMARK_WRITE_FIXTURES").is_some() {
        fs::write(document, &made).unwrap();
    }
    assert!(
        made == fs::read_to_string(document).unwrap(),
        "make it again: embermark report --reproduction results/published --publishable \
         -o docs/reproduction.md"
    );
}

#[test]
fn the_kept_results_may_be_published_and_are_small() {
    let mut bytes = 0;
    for path in kept() {
        bytes += path.metadata().unwrap().len();
        let result = load(&path).unwrap();
        assert!(result.plan.repeats.is_some(), "{}", path.display());
        assert!(result.unpublishable().is_empty(), "{}", path.display());
        assert!(
            !fs::read_to_string(&path).unwrap().contains("results/published"),
            "{}",
            path.display()
        );
    }
    assert!(bytes <= ROOM, "{bytes} bytes");
}
