use std::fs;

use super::*;

fn search(folders: Vec<PathBuf>, below: &'static [&'static str]) -> Search {
    let variable = Variable { name: "X_DIR", of: "the folder", below };
    Search { variable, folders, install: "apt-get install x".to_owned() }
}

/// A folder with these files in it.
fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files.iter().map(|file| folder.path().join(file)) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    folder
}

#[test]
fn programs_are_of_the_first_folder_that_has_all_of_them_by_an_absolute_path() {
    let (half, whole, other) = (folder(&["xd"]), folder(&["xd", "init"]), folder(&["xd", "init"]));
    let folders = [Path::new("."), half.path(), whole.path(), other.path()];
    let search = search(folders.map(PathBuf::from).to_vec(), &[""]);
    assert_eq!(search.find_from(None, ["xd"]).unwrap(), [half.path().join("xd")]);
    let both = search.find_from(None, ["xd", "init"]).unwrap();
    assert_eq!(both, [whole.path().join("xd"), whole.path().join("init")]);
    let missing = search.find_from(None, ["xd", "stop"]).unwrap_err();
    assert_eq!(missing.why, "no xd and stop found");
    assert_eq!(missing.remedy, "apt-get install x");
}

#[test]
fn where_the_variable_is_set_nothing_else_is_looked_at() {
    let (set, other) = (folder(&["sbin/xd", "readme"]), folder(&["xd", "init"]));
    let search = search(vec![other.path().into()], &["bin", "sbin"]);
    let found = search.find_from(Some(set.path()), ["xd"]).unwrap();
    assert_eq!(found, [set.path().join("sbin/xd")]);
    let missing = search.find_from(Some(set.path()), ["init"]).unwrap_err();
    let path = set.path().display();
    assert_eq!(missing.why, format!("no init at {path}, which X_DIR names"));
    assert!(missing.remedy.contains("name the folder in X_DIR by an absolute path"), "{missing:?}");
    assert!(search.find_from(Some(Path::new("here")), ["xd"]).is_err());

    let search = self::search(vec![other.path().into()], &[]);
    let program = set.path().join("sbin/xd");
    assert_eq!(search.find_from(Some(&program), ["init"]).unwrap(), [program]);
    assert!(search.find_from(Some(set.path()), ["xd"]).is_err(), "a folder is no program");
}

#[test]
fn a_version_is_read_from_what_a_program_says_or_it_is_told_why_not() {
    let search = search(Vec::new(), &[]);
    let asked = |script: &str| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        search.version(&mut command, |said| Some(said.strip_prefix("x ")?.to_owned()))
    };
    assert_eq!(asked("echo x 1.2").unwrap(), "1.2");
    let missing = asked("echo y 1.2").unwrap_err();
    assert_eq!(missing.remedy, "apt-get install x");
    assert!(missing.why.contains("`/bin/sh -c echo y 1.2` failed: "), "{missing:?}");
    assert!(missing.why.contains("no version of this engine in 'y 1.2'"), "{missing:?}");
    let missing = asked("echo x 1.2; echo no libz >&2; exit 3").unwrap_err();
    assert!(missing.why.contains("exit status: 3: no libz"), "{missing:?}");
    let missing = search.version(&mut Command::new("/nowhere/x"), |_| None).unwrap_err();
    assert!(missing.why.contains("`/nowhere/x` failed: No such file"), "{missing:?}");
}

#[test]
fn the_search_path_has_a_shell_and_no_program_of_an_unknown_name() {
    assert!(on_search_path("sh").unwrap().is_absolute());
    assert_eq!(on_search_path("no-program-has-this-name"), None);
}
