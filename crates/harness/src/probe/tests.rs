use super::*;

#[test]
fn numbers_are_found_by_the_whole_label() {
    let text = "rchar: 5\nread_bytes: 7\nVmHWM:\t  12 kB\n";
    assert_eq!(number(text, "read_bytes:"), Some(7));
    assert_eq!(number(text, "VmHWM:"), Some(12));
    assert_eq!(number(text, "write_bytes:"), None);
}

/// A probe of process 1 of a made-up system.
fn made_up(files: &[(&str, &str)]) -> (tempfile::TempDir, Probe) {
    let tree = tempfile::tempdir().unwrap();
    let dir = tree.path().join("4000000000");
    fs::create_dir(&dir).unwrap();
    files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
    let proc: &'static str = Box::leak(tree.path().to_str().unwrap().to_owned().into_boxed_str());
    (tree, Probe { root: 4_000_000_000, with_descendants: false, proc })
}

#[test]
fn a_counter_that_wrapped_or_cannot_be_read_is_not_measured_and_never_0() {
    let before = "read_bytes: 700\nwrite_bytes: 18446744073709551000\n";
    let (tree, probe) = made_up(&[("io", before), ("status", "VmHWM:\t 12 kB\n")]);
    let begun = probe.begin();
    let io = tree.path().join("4000000000/io");
    fs::write(&io, "read_bytes: 705\nwrite_bytes: 24\n").unwrap();
    let used = probe.end(begun);
    assert_eq!((used.read_bytes, used.written_bytes), (Some(5), None));
    assert_eq!((used.peak_bytes, used.cpu_ns), (Some(12 * 1024), None));

    fs::write(&io, "read_bytes: many\nwrite_bytes: 24\n").unwrap();
    let used = probe.end(begun);
    assert_eq!((used.read_bytes, used.written_bytes), (None, None));
    // A kernel that keeps no account of I/O has no such file; a foreign process's is closed.
    fs::remove_file(&io).unwrap();
    fs::create_dir(&io).unwrap();
    assert_eq!(probe.end(begun).read_bytes, None);
}

#[test]
fn a_peak_that_could_not_be_set_back_is_not_told() {
    let (tree, probe) = made_up(&[("status", "VmHWM:\t 12 kB\n")]);
    fs::create_dir(tree.path().join("4000000000/clear_refs")).unwrap();
    assert_eq!(probe.end(probe.begin()).peak_bytes, None);
    let (_tree, probe) = made_up(&[("status", "Name: kernel thread\n")]);
    assert_eq!(probe.end(probe.begin()), Resources::default());
}

#[test]
fn a_process_that_is_gone_is_not_measured_rather_than_idle() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    for probe in [Probe::process(pid), Probe::tree(pid)] {
        assert_eq!(probe.end(probe.begin()), Resources::default());
    }
}
