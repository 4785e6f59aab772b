//! Finding an engine's programs, one way for all: where its variable says and nowhere else when
//! that is set, else on the search path, where packages put them away from it, in our own copy.
#![cfg_attr(
    not(all(feature = "postgres", feature = "harperdb")),
    allow(dead_code, reason = "each engine needs its part of it")
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, iter};

use crate::{Availability, EngineError};

/// An engine cannot run here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub why: String,
    pub remedy: String,
}

impl Missing {
    /// That a database has no Node.js client here.
    #[cfg(any(feature = "sqlite", feature = "harperdb"))]
    pub fn no_client(self) -> EngineError {
        EngineError::impossible(format!("{}; {}", self.why, self.remedy))
    }

    /// As an error of the engine.
    pub fn error(self, engine: &'static str) -> EngineError {
        EngineError::unavailable(engine, self.why, self.remedy)
    }
}

/// What is made of looking for the programs of an engine that tells its version.
pub(crate) fn availability(version: Result<String, Missing>) -> Availability {
    match version {
        Ok(version) => Availability::Ready { version },
        Err(Missing { why, remedy }) => Availability::Missing { why, remedy },
    }
}

/// The environment variable by which a user says where an engine's programs are.
pub(crate) struct Variable {
    pub name: &'static str,
    /// What it names, in words.
    pub of: &'static str,
    /// Folders below the one that it names, "" for itself, in which programs may lie. None where
    /// it names the program.
    pub below: &'static [&'static str],
}

/// Where the programs of an engine are looked for.
pub(crate) struct Search {
    pub variable: Variable,
    /// Folders, in this order, where the variable is not set.
    pub folders: Vec<PathBuf>,
    /// The command that installs them.
    pub install: String,
}

impl Search {
    /// What the variable names, if it is set.
    pub fn named(&self) -> Option<PathBuf> {
        env::var_os(self.variable.name).map(PathBuf::from)
    }

    /// The paths of programs, all of one folder.
    pub fn find<const N: usize>(&self, programs: [&str; N]) -> Result<[PathBuf; N], Missing> {
        self.find_from(self.named().as_deref(), programs)
    }

    /// The same, where the variable is set to that or is not set.
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

    /// The version that a program tells when it is asked, as `read` finds it in what it says.
    pub fn version(
        &self,
        asked: &mut Command,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<String, Missing> {
        let version = asked.output().map_err(|error| error.to_string()).and_then(|output| {
            let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
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

    /// That what was found will not do, and what to do about it.
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

/// The folders of the search path.
pub(crate) fn search_path() -> Vec<PathBuf> {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect()
}

/// A program of the search path.
pub fn on_search_path(program: &str) -> Option<PathBuf> {
    search_path().into_iter().map(|folder| folder.join(program)).find(|path| is_program(path))
}

/// The program that runs JavaScript.
#[cfg(any(feature = "sqlite", feature = "harperdb"))]
pub(crate) fn node() -> Result<PathBuf, Missing> {
    on_search_path("node").ok_or_else(|| Missing {
        why: "there is no `node` on the search path".to_owned(),
        remedy: "apt-get install nodejs".to_owned(),
    })
}

/// Absolute, because a server is not started in this process's directory.
fn is_program(path: &Path) -> bool {
    path.is_absolute() && path.is_file()
}

#[cfg(test)]
mod tests;
