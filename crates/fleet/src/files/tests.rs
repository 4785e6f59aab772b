use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::*;

/// Imitates embermark: runs until it is ended, and then takes a moment.
const PROGRAM: &str = "#!/bin/sh
trap 'sleep 1; echo ended >>\"$0.said\"; exit 130' TERM
echo began >>\"$0.said\"
while :; do sleep 0.1; done
";

/// The folder of a fleet on a device. Its path has a space.
struct Home {
    _dir: TempDir,
    path: PathBuf,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Self { path: dir.path().join("USB DISK"), _dir: dir };
        let (_, script) = FILES.iter().find(|(name, _)| name.ends_with("/job.sh")).unwrap();
        home.write("job.sh", script);
        home.write("package/bin/embermark", PROGRAM);
        let executable = Command::new("chmod").arg("+x").arg(home.program()).status();
        assert!(executable.unwrap().success());
        home
    }

    fn program(&self) -> PathBuf {
        self.path.join("package/bin/embermark")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns all files below a folder, by their names in the home.
    fn files(&self, folder: &str) -> Vec<String> {
        names_below(&self.path.join(folder), &self.path)
    }

    /// Runs the script. Returns its output, or its errors if it fails.
    fn job(&self, command: &str, plan: &str) -> std::result::Result<String, String> {
        let script = self.path.join("job.sh");
        let said = Command::new("sh").arg(script).args([command, plan]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if said.status.success() { Ok(text(&said.stdout)) } else { Err(text(&said.stderr)) }
    }

    /// Begins a run, and waits until its program is there.
    fn begin(&self, plan: &str) {
        assert_eq!(self.job("begin", plan).as_deref(), Ok("begun"));
        let waited = Instant::now();
        while !self.program_said("began") {
            assert!(waited.elapsed() < Duration::from_secs(60), "its program has not begun");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn program_said(&self, word: &str) -> bool {
        let said = fs::read_to_string(self.program().with_extension("said"));
        said.unwrap_or_default().contains(word)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let runs = fs::read_dir(self.path.join("runs")).into_iter().flatten().flatten();
        for run in runs {
            let _ = self.job("end", &run.file_name().to_string_lossy());
        }
    }
}

/// Returns all files below a folder, by their names in `root`, in order.
fn names_below(folder: &Path, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(names_below(&path, root));
        } else {
            found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn a_new_fleet_has_every_file_of_this_crate() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("files");
    let mut there = names_below(&files, &files);
    // Python leaves its own files where a plugin was tried.
    there.retain(|name| !name.contains("__pycache__"));
    let mut written: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
    written.sort_unstable();
    assert_eq!(there, written);
}

#[test]
fn a_new_fleet_has_the_packages_that_its_playbook_copies() {
    let folder = tempfile::tempdir().unwrap();
    let (from, fleet) = (folder.path().join("dist"), folder.path().join("fleet"));
    fs::create_dir(&from).unwrap();
    let package = "embermark-0.1.0-linux-x86_64.tar";
    let content = zstd::encode_all(&b"files"[..], 1).unwrap();
    fs::write(from.join(format!("{package}.zst")), content).unwrap();
    assert_eq!(init(&fleet, Some(&from)).unwrap(), 1);
    let copied = fs::File::open(fleet.join("packages").join(format!("{package}.gz"))).unwrap();
    let content = io::read_to_string(flate2::read::GzDecoder::new(copied)).unwrap();
    assert_eq!(content, "files");
}

#[test]
fn what_other_plans_left_is_removed_but_no_log_and_no_result() {
    let home = Home::new();
    for plan in ["first", "second", "third"] {
        home.write(&format!("plans/{plan}/rows of a week.csv"), "1,2\n");
        // Two that were interrupted, and one that has ended.
        home.write(&format!("runs/{plan}/log"), "ok\n");
        home.write(&format!("runs/{plan}/out/journal.jsonl"), "{}\n");
        home.write(&format!("runs/{plan}/out/data/a database"), "rows");
        home.write(&format!("runs/{plan}/out/rows/staged"), "rows");
    }
    home.write("runs/first/out/result.json", "{}");
    home.write("runs/first/status", "0\n");
    assert_eq!(home.job("tidy", "third").as_deref(), Ok(""));
    assert_eq!(home.files("plans"), ["plans/third/rows of a week.csv"]);
    assert_eq!(
        home.files("runs"),
        [
            "runs/first/log",
            "runs/first/out/journal.jsonl",
            "runs/first/out/result.json",
            "runs/first/status",
            "runs/second/log",
            "runs/second/out/journal.jsonl",
            "runs/third/log",
            "runs/third/out/data/a database",
            "runs/third/out/journal.jsonl",
            "runs/third/out/rows/staged",
        ]
    );
    assert!(home.program().is_file());

    let new = Home::new();
    assert_eq!(new.job("tidy", "first").as_deref(), Ok(""), "a device without plans and runs");
}

#[test]
fn nothing_is_removed_while_a_run_is_active_and_the_run_can_be_ended() {
    let home = Home::new();
    home.write("plans/first/plan.toml", "");
    home.write("plans/second/plan.toml", "");
    home.begin("first");
    assert!(home.job("state", "first").unwrap().starts_with("running"));
    // Of the same plan too: its devices may be asked to be client machines.
    for (command, plan) in [("tidy", "first"), ("tidy", "second"), ("begin", "second")] {
        let refused = home.job(command, plan).unwrap_err();
        assert!(refused.starts_with("the run of plan first is active: "), "{refused}");
        let remedy = format!("sh '{}' end first", home.path.join("job.sh").display());
        assert!(refused.ends_with(&remedy), "{refused}");
        assert_eq!(refused.lines().count(), 1, "the last line is reported");
    }
    assert_eq!(home.files("plans"), ["plans/first/plan.toml", "plans/second/plan.toml"]);

    assert_eq!(home.job("end", "second").as_deref(), Ok("none"));
    assert!(!home.program_said("ended"));
    assert_eq!(home.job("end", "first").as_deref(), Ok("ended 143"));
    assert!(home.program_said("ended"), "it waits until the program has ended");
    assert_eq!(home.job("end", "first").as_deref(), Ok("ended 143"));
    assert_eq!(home.job("tidy", "second").as_deref(), Ok(""));
    assert_eq!(home.files("plans"), ["plans/second/plan.toml"]);
    home.begin("second");
}

#[test]
fn the_home_is_one_word_of_a_shell_which_expands_only_a_tilde() {
    let ansible = Command::new("ansible").arg("--version").output();
    if !ansible.is_ok_and(|said| said.status.success()) {
        embermark_skips::skipped("ansible", "no ansible in PATH; make test-deps installs it");
        return;
    }
    let user = tempfile::tempdir().unwrap();
    let name = "roles/embermark/vars/main.yml";
    let (_, text) = FILES.iter().find(|(known, _)| *known == name).unwrap();
    let vars = user.path().join("vars.yml");
    fs::write(&vars, text).unwrap();
    let in_home = |rest: &str| format!("{}/{rest}", user.path().display());
    for (home, expected) in [
        ("~/USB DISK/$HOME", in_home("USB DISK/$HOME/")),
        ("~", in_home("/")),
        ("/media/pi/it's ~/`id`", "/media/pi/it's ~/`id`/".to_owned()),
    ] {
        let mut ansible = Command::new("ansible");
        ansible.args(["localhost", "-i", "localhost,", "-c", "local", "-m", "raw", "-a"]);
        ansible.arg("printf '<%s>' {{ embermark_home_word }}");
        ansible.args(["-e", &format!("@{}", vars.display())]);
        ansible.args(["-e", &json!({ "embermark_home": home }).to_string()]);
        let said = ansible.env("HOME", user.path()).env("ANSIBLE_NOCOLOR", "1").output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains(&format!("<{expected}>")), "{home}: {said}");
    }
}
