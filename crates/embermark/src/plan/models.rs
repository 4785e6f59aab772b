//! Models that an option selects: a built-in model by its name, or one that a file describes.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use crate::error::Failure;

/// Returns the built-in model with a name, or reads one from a file, whose name becomes that of the
/// model. `option` and `page` are for error messages: the option, and its page of the manual.
///
/// # Errors
/// If the name is unknown or the file cannot be read.
pub fn model<T, U: Display, E: Display>(
    (option, page): (&str, &str),
    given: &str,
    built_in: impl Fn(&str) -> Result<T, U>,
    parse: impl Fn(&str, &str) -> Result<T, E>,
) -> Result<T, Failure> {
    if !is_file(given) {
        return built_in(given).map_err(|error| {
            Failure::usage(format!("{option}: {error}; or a file of your own, FILE.toml ({page})"))
        });
    }
    let path = Path::new(given);
    let refused = |why: String| Failure::usage(format!("{option} {}: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    parse(&name.unwrap_or_default(), &text).map_err(|error| refused(error.to_string()))
}

/// Whether `given` is the name of a file, not of a built-in model.
fn is_file(given: &str) -> bool {
    let path = Path::new(given);
    given.contains('/') || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"))
}
