use std::io::{Seek, SeekFrom, Write};

use super::*;

#[test]
fn a_directory_that_is_not_there_has_no_size_rather_than_0() {
    let dir = tempfile::tempdir().unwrap();
    assert!(size_of(&dir.path().join("gone")).is_err());
    assert_eq!(size_of(dir.path()).unwrap(), DiskSize::default());
}

#[test]
fn holes_links_and_folders_are_counted_as_what_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    fs::write(dir.path().join("plain"), vec![7; 10_000]).unwrap();
    fs::hard_link(dir.path().join("plain"), below.join("again")).unwrap();
    let mut sparse = fs::File::create(below.join("sparse")).unwrap();
    sparse.seek(SeekFrom::Start(9_999_999)).unwrap();
    sparse.write_all(&[1]).unwrap();
    sparse.sync_all().unwrap();

    let size = size_of(dir.path()).unwrap();
    assert_eq!(size.apparent_bytes, 10_000 + 10_000_000);
    assert!((10_000..100_000).contains(&size.allocated_bytes), "{size:?}");
}
