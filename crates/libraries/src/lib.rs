//! C libraries that are opened at run time: finds a library and looks up its functions.
//!
//! A library that was opened stays open, because its threads and its memory may outlive the last
//! database.

pub mod deps;
pub mod duckdb;
pub mod search_path;

use std::env::consts::ARCH;
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs};

pub use embermark_contract::EngineError as Error;
use embermark_contract::{Availability, EngineError, Origin, Result as EngineResult};
pub use libloading;
use libloading::Library;

/// An engine's library and the value that is made from it. It is opened once per process, when it is
/// first requested.
pub struct Loaded<T: 'static> {
    engine: &'static str,
    /// How to get the library.
    remedy: &'static str,
    load: fn() -> Result<(T, PathBuf), String>,
    found: OnceLock<Result<(T, PathBuf), String>>,
}

impl<T> Loaded<T> {
    /// Makes it. `load` returns the value with the library's path, or why it is not available.
    pub const fn new(
        engine: &'static str,
        remedy: &'static str,
        load: fn() -> Result<(T, PathBuf), String>,
    ) -> Self {
        Self { engine, remedy, load, found: OnceLock::new() }
    }

    /// Returns the library.
    pub fn get(&'static self) -> EngineResult<&'static T> {
        let unavailable = |why: &String| EngineError::unavailable(self.engine, why, self.remedy);
        self.found.get_or_init(self.load).as_ref().map(|(made, _)| made).map_err(unavailable)
    }

    /// Returns the origin of the engine's library. `variable` is the environment variable that may
    /// name it.
    pub fn origin(&'static self, variable: &'static str) -> Option<Origin> {
        let (_, path) = self.found.get_or_init(self.load).as_ref().ok()?;
        Some(crate::deps::origin(self.engine, path.clone(), Some(variable)))
    }

    /// Returns the availability of an engine that needs only this library, with its version.
    pub fn availability(&'static self, version: impl FnOnce(&T) -> String) -> Availability {
        let found = self.found.get_or_init(self.load).as_ref();
        let version = found.map_or_else(|_| String::new(), |(made, _)| version(made));
        self.combined_with(Availability::Ready { version })
    }

    /// Returns the availability of an engine that needs this library in addition to what `found`
    /// describes.
    pub fn combined_with(&'static self, found: Availability) -> Availability {
        match (found, self.found.get_or_init(self.load)) {
            (Availability::Ready { .. }, Err(why)) => {
                Availability::Missing { why: why.clone(), remedy: self.remedy.to_owned() }
            }
            (found, _) => found,
        }
    }
}

/// A library that is searched for.
pub struct Search<'a> {
    /// Environment variable that names its folder. If it is set, only that folder is searched, so
    /// that a wrong name is not hidden.
    pub variable: &'static str,
    /// Prefix of its file names, for example `librocksdb.so`. The version follows.
    pub file: &'static str,
    /// Folders that are searched before those of the system.
    pub folders: &'a [PathBuf],
}

impl Search<'_> {
    /// Opens the first library that can be opened, the newest version first in each folder. Returns
    /// it with its path.
    pub fn open(&self) -> Result<(&'static Library, PathBuf), String> {
        self.open_from(env::var_os(self.variable).as_deref().map(Path::new))
    }

    /// Returns the folder of the system that has the library.
    pub fn system(&self) -> Option<PathBuf> {
        system_folders().into_iter().find(|folder| !self.versions_in(folder).is_empty())
    }

    /// Like [`open`](Self::open), but in the folder `named` instead of that of the environment
    /// variable.
    pub fn open_from(&self, named: Option<&Path>) -> Result<(&'static Library, PathBuf), String> {
        let paths = match named {
            Some(folder) => self.versions_in(folder),
            None => {
                let system = system_folders();
                let folders = self.folders.iter().chain(&system);
                let found = folders.flat_map(|folder| self.versions_in(folder));
                // Last, the plain name, which the system's loader may find elsewhere.
                found.chain([self.file.into()]).collect()
            }
        };
        if let (Some(folder), []) = (named, &*paths) {
            return Err(format!("no {} in {}", self.file, folder.display()));
        }
        let mut why = String::new();
        for path in paths {
            match open(&path) {
                Ok(library) => return Ok((Box::leak(Box::new(library)), path)),
                Err(error) => why = format!("{}: {error}", path.display()),
            }
        }
        Err(format!("its library could not be loaded: {why}"))
    }

    /// Returns the versions of the library in a folder, newest first.
    fn versions_in(&self, folder: &Path) -> Vec<PathBuf> {
        let found = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| {
            let name = entry.ok()?.file_name();
            // The plain name comes last: it is one of the others, or the only one.
            let version = name.to_str()?.strip_prefix(self.file)?;
            let numbers = version.split('.').filter_map(|part| part.parse().ok()).collect();
            Some((numbers, folder.join(&name)))
        });
        let mut found: Vec<(Vec<u32>, PathBuf)> = found.collect();
        found.sort_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, path)| path).collect()
    }
}

/// Returns the folders of the system's libraries. The loader searches these too, but not for a name
/// without its version, which only the developer packages provide.
fn system_folders() -> [PathBuf; 4] {
    let ours = format!("/usr/lib/{ARCH}-linux-gnu");
    ["/usr/local/lib", &ours, "/usr/lib64", "/usr/lib"].map(PathBuf::from)
}

/// Opens a library. First opens libraries in the same folder that it needs and the system lacks.
fn open(path: &Path) -> Result<Library, String> {
    let mut opened_for_it = Vec::new();
    loop {
        // SAFETY: the libraries that are searched for require nothing of their users.
        let error = match unsafe { Library::new(path) } {
            Ok(library) => return Ok(library),
            Err(error) => with_cause(&error),
        };
        // As the loader words it: "libx.so.1: cannot open shared object file: …".
        let needed = error.split_once(": cannot open shared object").map(|(name, _)| name.trim());
        let beside = needed.and_then(|name| Some(path.parent()?.join(name)));
        match beside {
            Some(other) if other != path && other.is_file() && !opened_for_it.contains(&other) => {
                // It stays open, so that the library that needs it finds it in the process.
                std::mem::forget(open(&other)?);
                opened_for_it.push(other);
            }
            _ => return Err(error),
        }
    }
}

/// Describes an error of the loader, whose cause has the details.
pub fn with_cause(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| cause.to_string())
}

/// Describes a missing function.
pub fn missing_function(error: &libloading::Error) -> String {
    format!("its library lacks a function that is needed: {}", with_cause(error))
}

/// Declares a struct of a library's functions, each under its name without their common prefix, and
/// `load`, which looks all of them up. Without a prefix it declares functions that several
/// libraries have, each with its own prefix, which `load_as` takes.
///
/// ```text
/// functions! {
///     /// The functions.
///     pub(super) struct Api of "rocksdb_";
///     close(db: Handle);
/// }
/// ```
#[macro_export]
macro_rules! functions {
    ($(#[$about:meta])* $vis:vis struct $api:ident of $prefix:literal; $($functions:tt)*) => {
        $crate::functions! { $(#[$about])* $vis struct $api; $($functions)* }

        impl $api {
            /// Looks all functions up.
            ///
            /// # Safety
            /// The library must be the one with these functions, of a version whose header declares
            /// them like this, and must never be unloaded.
            $vis unsafe fn load(library: &$crate::libloading::Library) -> std::result::Result<Self, String> {
                let prefix = $prefix;
                // SAFETY: as the caller guarantees.
                unsafe { Self::load_as(library, prefix) }
            }
        }
    };
    (
        $(#[$about:meta])* $vis:vis struct $api:ident;
        $($name:ident($($argument:ident: $of:ty),* $(,)?) $(-> $result:ty)?;)*
    ) => {
        $(#[$about])*
        #[allow(non_snake_case, missing_docs, reason = "names as the library has them")]
        $vis struct $api {
            $($vis $name: unsafe extern "C" fn($($argument: $of),*) $(-> $result)?,)*
        }

        impl $api {
            /// Looks all functions up, by names with a prefix.
            ///
            /// # Safety
            /// That of `load`.
            $vis unsafe fn load_as(
                library: &$crate::libloading::Library,
                prefix: &str,
            ) -> std::result::Result<Self, String> {
                let missing_function = |error: $crate::libloading::Error| $crate::missing_function(&error);
                // SAFETY: the types are those of the library's header, as the caller guarantees.
                unsafe {
                    Ok(Self { $(
                        $name: *library
                            .get([prefix, stringify!($name)].concat())
                            .map_err(missing_function)?,
                    )* })
                }
            }
        }
    };
}
#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search<'_> = Search { variable: "X_LIB_DIR", file: "libx.so", folders: &[] };

    #[test]
    fn a_folder_that_was_named_and_holds_none_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let why = SEARCH.open_from(Some(folder.path())).err().unwrap();
        assert!(why.contains(&*folder.path().to_string_lossy()), "{why}");
        fs::write(folder.path().join("libx.so"), "no library").unwrap();
        let why = SEARCH.open_from(Some(folder.path())).err().unwrap();
        assert!(why.contains("could not be loaded") && why.contains("libx.so: "), "{why}");
    }

    #[test]
    fn a_library_is_loaded_once_and_one_that_is_missing_is_told_with_its_remedy() {
        static HERE: Loaded<String> =
            Loaded::new("x", "get x", || Ok(("x 1".to_owned(), "/x".into())));
        static GONE: Loaded<String> = Loaded::new("x", "get x", || Err("no x".to_owned()));
        let ready = Availability::Ready { version: "1".to_owned() };
        assert!(std::ptr::eq(HERE.get().unwrap(), HERE.get().unwrap()));
        assert_eq!(HERE.combined_with(ready.clone()), ready);
        assert_eq!(HERE.availability(|x| x.replace("x ", "")), ready);
        assert_eq!(HERE.origin("X_LIB_DIR"), Some(Origin::System("/x".into())));
        assert_eq!(HERE.origin("PATH"), Some(Origin::Named("PATH", "/x".into())));
        assert_eq!(GONE.origin("X_LIB_DIR"), None);
        let error = GONE.get().unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains("no x"), "{error}");
        let missing = |why: &str, remedy: &str| Availability::Missing {
            why: why.to_owned(),
            remedy: remedy.to_owned(),
        };
        assert_eq!(GONE.combined_with(ready), missing("no x", "get x"));
        assert_eq!(GONE.availability(String::clone), missing("no x", "get x"));
        let sooner = missing("no program", "get it");
        assert_eq!(GONE.combined_with(sooner.clone()), sooner);
    }

    #[test]
    fn the_newest_library_of_a_folder_is_tried_first() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["libx.so", "libx.so.7.8", "libx.so.10.2", "libx.so.9"];
        for name in names.into_iter().chain(["libx.a", "other.so"]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let expected = [2, 3, 1, 0].map(|i: usize| folder.path().join(names[i]));
        assert_eq!(SEARCH.versions_in(folder.path()), expected);
    }

    #[test]
    fn what_a_library_needs_is_taken_from_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let compile = |name: &str, text: &str, with: &[PathBuf]| {
            fs::write(at("source.c"), text).unwrap();
            let soname = format!("-Wl,-soname,{name}");
            let mut cc = std::process::Command::new("cc");
            cc.args(["-shared", "-fPIC", &soname, "-o"]).arg(at(name)).arg(at("source.c"));
            assert!(cc.args(with).status().unwrap().success());
        };
        let (below, above) = ("libembermark_test_below.so.1", "libembermark_test_above.so");
        compile(below, "int below(void) { return 41; }", &[]);
        let text = "int below(void); int above(void) { return below() + 1; }";
        compile(above, text, &[at(below)]);
        let search = Search { variable: "X_LIB_DIR", file: above, folders: &[] };
        let (library, path) = search.open_from(Some(folder.path())).unwrap();
        assert_eq!(path, at(above));
        functions! {
            struct Api of "abo";
            ve() -> i32;
        }
        // SAFETY: it was compiled above, with that function.
        assert_eq!(unsafe { (Api::load(library).unwrap().ve)() }, 42);
        functions! {
            #[allow(dead_code, reason = "it is not there to be called")]
            struct Other of "abo";
            minable() -> i32;
        }
        // SAFETY: nothing is called.
        let why = unsafe { Other::load(library) }.err().unwrap();
        assert!(why.contains("lacks a function") && why.contains("abominable"), "{why}");
    }
}
