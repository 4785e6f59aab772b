use super::*;

#[test]
fn the_newest_options_file_is_read_and_the_cache_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("OPTIONS-000009", "[Version]\n  rocksdb_version=1\n");
    let text = "# text\n[Version]\n  rocksdb_version=7.8.3\n[CFOptions \"default\"]\n  a=b=c\n\
                [CFOptions \"other\"]\n  a=d\n";
    write("OPTIONS-000010", text);
    write("OPTIONS-000011.dbtmp", "rocksdb_version=2\n");
    assert!(written(folder.path()).is_err(), "without a log");
    write("LOG", "1 [x] Options.a : 1\n    capacity : 8388608\n    num_shard_bits : 4\n");
    let expected =
        [("rocksdb_version", "7.8.3"), ("a", "b=c"), ("a", "d"), ("num_shard_bits", "4")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(written(folder.path()).unwrap(), expected);
    assert!(written(&folder.path().join("none")).is_err());
}

#[test]
fn a_shard_of_the_cache_has_room_for_a_file() {
    for (memory, shard_bits, file) in [
        (1 << 20, 0, 2 << 20),
        (16 << 20, 2, 2 << 20),
        (64 << 20, 2, 6_710_886),
        (256 << 20, 2, 26_843_545),
        (1 << 30, 3, 64 << 20),
    ] {
        let sizes = Sizes::of(memory);
        assert_eq!((sizes.shard_bits, sizes.file), (shard_bits, file), "{memory}");
        assert_eq!(sizes.buffers + sizes.cache, memory);
        assert!(shard_bits == 0 || sizes.cache >> shard_bits >= file, "{memory}");
    }
}
