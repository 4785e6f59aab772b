//! Output formats of a result, one module each.

mod bencher;
mod column;
mod columns;
mod csv;
mod disk;
mod energy;
mod explained;
mod flash;
mod json;
mod lines;
pub(crate) mod markdown;
mod observed;
mod parquet;
mod rows;
mod several;
mod statistics;
mod timeline;

pub(crate) use csv::written as csv_written;
pub use parquet::parquet;
pub use several::{DeviceResult, csv_of, parquet_of};

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use embermark_model::choice::{self, UnknownName};
use embermark_model::result::ResultFile;

use crate::{Options, ReportError, document};

/// An output format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Tables for a terminal.
    Table,
    /// The result file, indented.
    Json,
    /// One line per run.
    Csv,
    /// The terminal's tables as Markdown for GitHub.
    Markdown,
    /// One row per run, in columns. This format is binary: see [`crate::parquet()`].
    Parquet,
    /// Times per operation in the JSON format of bencher.dev.
    Bencher,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::Table, Self::Json, Self::Csv, Self::Markdown, Self::Parquet, Self::Bencher];

    /// Returns the name of the format on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
            Self::Parquet => "parquet",
            Self::Bencher => "bencher",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| choice::unknown("format", text, Self::ALL.map(Self::name)))
    }
}

/// Formats the report of `file`. The text ends with a line break.
///
/// # Errors
/// If CSV or JSON cannot be written, which no valid result causes, and for [`Format::Parquet`],
/// which is binary.
pub fn render(
    file: &ResultFile,
    format: Format,
    options: &Options<'_>,
) -> Result<String, ReportError> {
    match format {
        Format::Table => Ok(document::terminal(&document::report(file, options), options)),
        Format::Json => json::render(file, options),
        Format::Csv => csv::render(&device(options, file), file, options.durability),
        Format::Markdown => {
            let options = Options { intervals: true, ..*options };
            Ok(document::markdown(&document::report(file, &options)))
        }
        Format::Parquet => Err(ReportError::NoText),
        Format::Bencher => bencher::render(file),
    }
}

/// Returns the name of the device of a result that is shown by itself: the label of its path.
fn device(options: &Options<'_>, file: &ResultFile) -> String {
    options.path.map_or_else(|| file.manifest.run_id.clone(), label)
}

/// Returns a label for a result from its path: the file's name, or the folder's if the file is
/// called `result`.
pub fn label(path: &Path) -> String {
    let plain = if path.extension().is_some_and(|end| end == "gz") {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    let stem = plain.file_stem().map(|name| name.to_string_lossy().into_owned());
    let folder = || {
        let parent = std::path::absolute(path).ok()?;
        Some(parent.parent()?.file_name()?.to_string_lossy().into_owned())
    };
    stem.filter(|stem| stem != "result").or_else(folder).unwrap_or_else(|| "result".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_named_by_its_file_or_its_folder_compressed_or_not() {
        for (path, name) in [
            ("results/pi/default.json", "default"),
            ("results/pi/default.json.gz", "default"),
            ("results/pi/result.json", "pi"),
            ("results/pi/result.json.gz", "pi"),
            ("pi.gz", "pi"),
        ] {
            assert_eq!(label(Path::new(path)), name, "{path}");
        }
    }

    #[test]
    fn formats_read_back_as_they_are_written_and_a_misspelt_one_gets_advice() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "markdwon".parse::<Format>().unwrap_err();
        assert!(error.to_string().contains("did you mean 'markdown'?"), "{error}");
    }
}
