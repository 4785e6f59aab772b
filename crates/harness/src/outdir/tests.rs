//! Directories of runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

fn prepare(out: &Path) -> Result<OutDir> {
    OutDir::prepare(out, None, "id", false)
}

fn refusal(out: &Path) -> String {
    let error = prepare(out).unwrap_err();
    assert!(error.is_usage());
    error.to_string()
}

#[test]
fn an_absent_folder_is_made_and_nothing_is_left_of_a_run_that_wrote_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    let prepared = prepare(&out).unwrap();
    let site = prepared.site("x").unwrap();
    assert!(site.is_absolute() && prepared.rows().is_dir());
    fs::write(site.join("file"), "").unwrap();
    prepared.remove_site(&site).unwrap();
    assert!(!site.exists());
    drop(prepared);
    assert!(!out.exists());
}

#[test]
fn logs_and_results_stay_and_databases_go() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let prepared = OutDir::prepare(dir.path(), Some(elsewhere.path()), "id", false).unwrap();
    fs::write(prepared.log("x").0, "said").unwrap();
    fs::write(prepared.result(), "{}").unwrap();
    prepared.site("x").unwrap();
    assert!(elsewhere.path().join("embermark-id/x").is_dir());
    drop(prepared);
    assert!(dir.path().join("logs/x.log").is_file() && dir.path().join(RESULT).is_file());
    assert!(!dir.path().join("rows").exists());
    assert_eq!(elsewhere.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_folder_that_holds_another_run_or_anything_else_is_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    for (name, says) in [
        (RESULT, "the result of another run; name another folder with --out"),
        (JOURNAL, "an interrupted run"),
        ("thesis.tex", "holds other files (thesis.tex)"),
    ] {
        let file = dir.path().join(name);
        fs::write(&file, "").unwrap();
        assert!(refusal(dir.path()).contains(says), "{}", refusal(dir.path()));
        fs::remove_file(file).unwrap();
    }
    assert!(prepare(dir.path()).is_ok());
}

#[test]
fn a_folder_that_cannot_be_made_is_refused_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let says = refusal(&dir.path().join("x".repeat(300)));
    assert!(says.contains("cannot be created") && says.ends_with("with --out"), "{says}");
}

#[test]
fn a_path_that_is_no_text_is_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join(OsStr::from_bytes(b"caf\xe9"));
    assert!(
        refusal(&out).ends_with("its path is not UTF-8; rename it, or name another with --out")
    );
    assert!(!out.exists());
    // One that got such a name later.
    fs::create_dir(&out).unwrap();
    fs::write(out.join(JOURNAL), "").unwrap();
    let error = LockedFolder::lock_run(&out).unwrap_err().to_string();
    assert!(error.ends_with("with --resume"), "{error}");
    let data = OutDir::prepare(&dir.path().join("out"), Some(&out), "id", false);
    assert!(data.unwrap_err().to_string().ends_with("with --dir"));
}

#[test]
fn a_run_that_is_at_work_in_a_folder_is_not_taken_for_one_that_was_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(JOURNAL), "").unwrap();
    let held = LockedFolder::lock_run(dir.path()).unwrap();
    assert!(refusal(dir.path()).contains("another run is active"));
    drop(held);
    assert!(refusal(dir.path()).contains("an interrupted run"));
}

#[test]
fn a_file_or_a_folder_nobody_may_write_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(refusal(&file).contains("is not a folder"));
    assert!(refusal(&file.join("below")).contains("is not a folder"));
    // Not even root can write to this one.
    assert!(prepare(Path::new("/proc/embermark")).is_err());

    let out = dir.path().join("out");
    let error = OutDir::prepare(&out, Some(&file), "id", false).unwrap_err();
    assert!(error.is_usage() && error.to_string().ends_with("with --dir"), "{error}");
    assert!(!out.exists());
}

/// The lock that a process holds which a killed run was just starting, until it becomes another
/// program.
#[test]
fn a_lock_that_is_let_go_within_a_moment_keeps_nobody_out_and_one_that_is_kept_does() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(JOURNAL), "").unwrap();
    let held = fs::File::open(dir.path()).unwrap();
    held.lock().unwrap();
    let error = LockedFolder::lock_run(dir.path()).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("another run is active"), "{error}");
    let letting_go = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
    });
    assert!(LockedFolder::lock_run(dir.path()).is_ok());
    letting_go.join().unwrap();
}
