use super::*;

/// A folder with a file in a folder.
fn folder(content: &[u8], length: u64) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    let path = folder.path().join("inner/file");
    fs::write(&path, content).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
    digest(folder.path()).unwrap()
}

#[test]
fn the_same_files_have_one_digest_wherever_they_are_and_others_another() {
    let same = folder(b"content", 7);
    assert_eq!(same, folder(b"content", 7));
    for other in [folder(b"contend", 7), folder(b"content", 8), folder(b"content", 6)] {
        assert_ne!(same, other);
    }
    // As long as a map may be, and as quickly read.
    assert_ne!(folder(b"content", 1 << 40), same);
    assert!(digest(Path::new("/nowhere")).is_err());
}
