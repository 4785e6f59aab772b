//! Finds the programs of engines, in the same way for all. If the engine's variable is set, only its
//! folder is searched. Otherwise the search path, the folders of packages and the downloaded copy
//! are searched.
#![cfg_attr(
    not(all(feature = "postgres", feature = "harperdb")),
    allow(dead_code, reason = "each engine needs its part of it")
)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, iter};

#[cfg(feature = "harperdb")]
use embermark_libraries::search_path::on_search_path;
use embermark_libraries::search_path::{self, is_program};

use crate::{EngineError, deps};

/// Signal of a program that uses an instruction which the CPU does not have (`signal(7)`).
const ILLEGAL_INSTRUCTION: i32 = 4;

/// Why an engine cannot run here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub why: String,
    pub remedy: String,
}

impl Missing {
    pub fn error(self, engine: &'static str) -> EngineError {
        EngineError::unavailable(engine, self.why, self.remedy)
    }
}

/// Environment variable with the location of an engine's programs.
pub(crate) struct Variable {
    pub name: &'static str,
    /// What it names, for a person.
    pub of: &'static str,
    /// Folders, relative to the one it names, in which programs can be, "" for itself. Empty if it
    /// names the program.
    pub below: &'static [&'static str],
}

/// Where an engine's programs are searched.
pub(crate) struct Search {
    pub variable: Variable,
    /// Folders in this order, if the variable is not set.
    pub folders: Vec<PathBuf>,
    /// Command that installs them.
    pub install: String,
}

impl Search {
    /// Searches for a program on the search path, then in this folder of the downloaded copy.
    /// `packaged` is the command that installs it where there is no `make servers`.
    pub fn on_path(variable: Variable, downloaded: PathBuf, packaged: &'static str) -> Self {
        let mut folders = search_path::folders();
        folders.push(downloaded);
        let install = deps::install_hint("make servers", packaged).to_owned();
        Self { variable, folders, install }
    }

    /// Returns what the variable names, if it is set.
    pub fn named(&self) -> Option<PathBuf> {
        env::var_os(self.variable.name).map(PathBuf::from)
    }

    /// Returns the paths of programs, all in the same folder.
    pub fn find<const N: usize>(&self, programs: [&str; N]) -> Result<[PathBuf; N], Missing> {
        self.find_from(self.named().as_deref(), programs)
    }

    /// Returns the paths of programs for this value of the variable.
    pub fn find_from<const N: usize>(
        &self,
        named: Option<&Path>,
        programs: [&str; N],
    ) -> Result<[PathBuf; N], Missing> {
        let Variable { name, below, .. } = self.variable;
        let all = |folder: PathBuf| programs.map(|program| folder.join(program));
        let places: Vec<[PathBuf; N]> = match named {
            Some(program) if below.is_empty() => vec![programs.map(|_| program.to_owned())],
            Some(folder) => below.iter().map(|below| all(folder.join(below))).collect(),
            None => self.folders.iter().cloned().map(all).collect(),
        };
        let found = places.into_iter().find(|paths| paths.iter().all(|path| is_program(path)));
        found.ok_or_else(|| {
            let programs = programs.join(" and ");
            let why = match named {
                Some(named) => format!("no {programs} at {}, which {name} names", named.display()),
                None => format!("no {programs} found"),
            };
            Missing { why, remedy: self.remedy(named.is_some()) }
        })
    }

    /// Returns the version that a program reports. `read` extracts it from the output.
    pub fn version(
        &self,
        asked: &mut Command,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<String, Missing> {
        let version = asked.output().map_err(|error| error.to_string()).and_then(|output| {
            let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
            if output.status.signal() == Some(ILLEGAL_INSTRUCTION) {
                return Err("it uses instructions that this CPU does not have".to_owned());
            }
            if !output.status.success() {
                return Err(format!("{}: {}", output.status, text(&output.stderr)));
            }
            let said = text(&output.stdout);
            read(&said).ok_or_else(|| format!("no version of this engine in '{said}'"))
        });
        version.map_err(|why| {
            let words = iter::once(asked.get_program()).chain(asked.get_args());
            let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
            self.missing(format!("`{}` failed: {why}", words.join(" ")))
        })
    }

    /// Returns why what was found cannot be used, and what to do about it.
    pub fn missing(&self, why: String) -> Missing {
        Missing { why, remedy: self.remedy(self.named().is_some()) }
    }

    fn remedy(&self, is_named: bool) -> String {
        let Variable { name, of, .. } = self.variable;
        match is_named {
            true => format!("name {of} in {name} by an absolute path, or unset it"),
            false => self.install.clone(),
        }
    }
}

/// Returns the program that runs JavaScript.
#[cfg(feature = "harperdb")]
pub(crate) fn node() -> Result<PathBuf, Missing> {
    on_search_path("node").ok_or_else(|| Missing {
        why: "there is no `node` on the search path".to_owned(),
        remedy: "apt-get install nodejs".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn search(folders: Vec<PathBuf>, below: &'static [&'static str]) -> Search {
        let variable = Variable { name: "X_DIR", of: "the folder", below };
        Search { variable, folders, install: "apt-get install x".to_owned() }
    }

    /// Returns a folder with these files.
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
        let (half, whole, other) =
            (folder(&["xd"]), folder(&["xd", "init"]), folder(&["xd", "init"]));
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
        assert!(
            missing.remedy.contains("name the folder in X_DIR by an absolute path"),
            "{missing:?}"
        );
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
        let missing = asked("kill -ILL $$").unwrap_err();
        assert!(missing.why.contains("instructions that this CPU does not have"), "{missing:?}");
        let missing = search.version(&mut Command::new("/nowhere/x"), |_| None).unwrap_err();
        assert!(missing.why.contains("`/nowhere/x` failed: No such file"), "{missing:?}");
    }
}
