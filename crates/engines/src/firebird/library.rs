//! Firebird's library, loaded once per process.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Mutex;

use super::NAME;
use super::api::{Api, Master, Provider, Util};
use crate::library::{Loaded, Search};

pub(super) const VARIABLE: &str = "FIREBIRD_LIB_DIR";

pub(super) static LIBRARY: Loaded<FbLib> = Loaded::new(
    NAME,
    crate::deps::install_hint(
        "run `make deps`, or set FIREBIRD_LIB_DIR to the folder `lib` of a Firebird 5 that has \
         libfbclient.so.2 and, next to that folder, plugins/libEngine13.so",
        "install embermark's package again, or set FIREBIRD_LIB_DIR to the folder `lib` of a \
         Firebird 5 that has libfbclient.so.2 and, next to that folder, plugins/libEngine13.so",
    ),
    load,
);

pub(super) struct FbLib {
    pub api: Api,
    master: Master,
    pub provider: Provider,
    pub util: Util,
    /// Its version, for example `5.0.4`.
    pub version: String,
    /// Held while a database is opened, because the folder of lock files is global to the library.
    pub opening: Mutex<()>,
    /// `None` if the system lacks it.
    pub utf8: Option<Utf8Locale>,
}

// SAFETY: the three interfaces are the library's own, one of each per process, and meant for all
// its threads (Using_OO_API, "Accessing Firebird interfaces"). The locale is never changed.
unsafe impl Send for FbLib {}
// SAFETY: as above.
unsafe impl Sync for FbLib {}

impl FbLib {
    /// Returns a status for the calls of one connection.
    pub fn status(&self) -> Option<super::api::Status> {
        // SAFETY: the master interface is never freed.
        unsafe { self.master.status() }
    }
}

/// The locale `C.UTF-8`. Firebird converts file names from UTF-8 to the character set of the
/// thread's locale, and asks for that set when the first database is opened
/// (<https://github.com/FirebirdSQL/firebird/blob/v5.0.4/src/common/isc_file.cpp>, `IConv`). The
/// locale of a program that sets none has ASCII, and no other letter can be converted.
pub(super) struct Utf8Locale(libc::locale_t);

impl Utf8Locale {
    fn new() -> Option<Self> {
        // SAFETY: the name is terminated, and no locale is changed.
        let locale =
            unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"C.UTF-8".as_ptr(), ptr::null_mut()) };
        (!locale.is_null()).then_some(Self(locale))
    }

    /// Calls a function while this is the thread's locale.
    pub fn during<T>(&self, call: impl FnOnce() -> T) -> T {
        // SAFETY: the locale is never freed.
        let before = unsafe { libc::uselocale(self.0) };
        let result = call();
        // SAFETY: it was the thread's locale until now.
        unsafe { libc::uselocale(before) };
        result
    }
}

fn load() -> Result<(FbLib, PathBuf), String> {
    let folders = [crate::deps::folder("firebird").join("lib")];
    let search = Search { variable: VARIABLE, file: "libfbclient.so", folders: &folders };
    let (library, path) = search.open()?;
    // SAFETY: by its name the library is Firebird's; these three functions have had these types
    // since version 3.
    let api = unsafe { Api::load(library) }?;
    let version = version(&api);
    if !version.starts_with("5.") {
        return Err(format!("its library is Firebird {version}, but version 5 is needed"));
    }
    check_engine_file(&path)?;
    // The ICU next to it, if `make deps` has unpacked one. The engine finds it by itself, but
    // ICU's libraries do not find each other. Without one, the engine uses the system's.
    let icu = Search { variable: VARIABLE, file: "libicui18n.so", folders: &[] };
    let _ = path.parent().map(|folder| icu.open_from(Some(folder)));
    // SAFETY: the master interface is never freed.
    let interfaces = unsafe {
        let master = (api.fb_get_master_interface)();
        master.and_then(|master| Some((master, master.dispatcher()?, master.util()?)))
    };
    let (master, provider, util) = interfaces.ok_or("its library has no interfaces")?;
    let (opening, utf8) = (Mutex::new(()), Utf8Locale::new());
    Ok((FbLib { api, master, provider, util, version, opening, utf8 }, path))
}

/// Parses a text such as `LI-V6.3.4.1812 Firebird 5.0`. The release's own numbers come last, and
/// the number of the point release is the third of the others.
fn version(api: &Api) -> String {
    let mut room = [0 as c_char; 256];
    // SAFETY: the manual asks for that many bytes of room; what is written is terminated.
    let text = unsafe {
        (api.isc_get_client_version)(room.as_mut_ptr());
        CStr::from_ptr(room.as_ptr()).to_string_lossy()
    };
    parse_version(&text)
}

fn parse_version(text: &str) -> String {
    let (numbers, release) = text.split_once(" Firebird ").unwrap_or((text, "of no known version"));
    let release = release.split(' ').next().unwrap_or_default();
    numbers.split('.').nth(2).map_or(release.to_owned(), |point| format!("{release}.{point}"))
}

/// Checks that the engine is present too. Without it the library is only a client of servers.
fn check_engine_file(library: &Path) -> Result<(), String> {
    let root = library.parent().and_then(Path::parent);
    match root.map(|root| root.join("plugins/libEngine13.so")) {
        Some(engine) if !engine.is_file() => {
            Err(format!("its library exists, but its engine is missing: no {}", engine.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_version;

    #[test]
    fn the_version_is_that_of_the_release() {
        assert_eq!(parse_version("LI-V6.3.4.1812 Firebird 5.0"), "5.0.4");
        assert_eq!(parse_version("LI-T6.4.0.15 Firebird 6.0 Initial"), "6.0.0");
        assert!(!parse_version("other words").starts_with("5."));
    }
}
