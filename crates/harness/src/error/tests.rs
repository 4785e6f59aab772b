use nix::errno::Errno;

use super::*;

#[test]
fn a_full_disk_is_told_with_its_path_and_the_way_out() {
    for errno in [Errno::ENOSPC, Errno::EDQUOT] {
        let error = HarnessError::file("/out/journal", "write the journal", errno.into());
        let text = error.to_string();
        assert!(text.starts_with("/out/journal: no space left"), "{text}");
        assert!(text.contains("--out") && !error.is_usage());
    }
}

#[test]
fn what_the_user_must_ask_otherwise_is_usage_and_what_the_machine_refuses_is_not() {
    let rows = |error| HarnessError::Rows {
        workload: "sensors".into(),
        scale: Scale::Full,
        source: Box::new(WorkloadError::Data(error)),
    };
    let path = PathBuf::from("/data.txt");
    assert!(rows(DataError::Missing(path.clone())).is_usage());
    let cause = io::Error::from(io::ErrorKind::PermissionDenied);
    assert!(!rows(DataError::Unwritable { path, cause }).is_usage());
    assert!(!HarnessError::Interrupted { result: None }.is_usage());
}
