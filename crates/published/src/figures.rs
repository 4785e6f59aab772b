//! The figures that a source printed: of phases, or as tables of the resources that it used.

use serde::Deserialize;

use crate::{Figure, Headline, Measure, Printed, Unit};

/// Suffix of the variants that have a source's own tables, documents and readers.
pub const FORM: &str = "-published";

/// The figures of a source, and what is said beside them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figures {
    /// The source's title beside them, if it is another one there.
    pub title: Option<String>,
    /// Its hardware beside them, if it is described in other words there.
    pub hardware: Option<String>,
    /// How it summarizes its repetitions. Empty for tables of resources.
    #[serde(default)]
    pub statistic: String,
    /// The variant that is not named beside a run.
    pub unnamed_variant: Option<String>,
    /// Why the figures need not agree with those of a run, in one line.
    pub differs: String,
    /// Which of its figures embermark leaves out, and why. Absent if it has all.
    pub left_out: Option<String>,
    /// What is ambiguous or inconsistent in the source.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Unit of the figures of phases.
    #[serde(default)]
    pub unit: Unit,
    /// The figures of phases. Empty if the licences of its engines forbid publishing all of them,
    /// or if it has tables of resources.
    #[serde(default)]
    pub phases: Vec<PhaseFigure>,
    /// The rows of its tables of resources.
    #[serde(default)]
    pub usage: Vec<UsageRow>,
}

/// A figure of a whole phase, or the rate of its operations.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseFigure {
    /// Phase.
    pub phase: String,
    /// Engine.
    pub engine: String,
    /// Number of rows. If absent, the number that the source uses.
    pub scale: Option<u64>,
    /// Variant, if the source has figures of several.
    pub variant: Option<String>,
    /// The figure, in the [unit](Figures::unit) of all.
    pub value: f64,
}

/// What one engine used, with one way of writing and one of reading. The columns are CPU (%) and
/// memory (kB) of the server, disk I/O (kB/s), CPU (%) and memory (kB) of the client, network
/// (kbit/s), of writing the disk (MiB), and the effort, from 1 (easy) to 5.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageRow {
    /// Engine.
    pub engine: String,
    /// How it was written.
    pub variant: String,
    /// How it was read.
    pub reader: String,
    /// Usage of writing.
    pub write: [f64; 8],
    /// Usage of reading, which does not change the disk.
    pub read: [f64; 7],
    /// The source's scores of writing, of reading and of both, in percent.
    pub score: [f64; 3],
}

/// The figure that a headline has above its line, or below it.
struct Wanted<'a> {
    phase: &'a str,
    engine: &'a str,
    scale: Option<u64>,
    variant: Option<&'a str>,
}

impl Figures {
    /// Returns what an engine used in a phase, in the order of the columns. `None` if the source
    /// has no such row.
    pub fn used(&self, engine: &str, variant: &str, phase: &str) -> Option<&[f64]> {
        let variant = variant.strip_suffix(FORM).unwrap_or(variant);
        let mut rows =
            self.usage.iter().filter(|row| (&*row.engine, &*row.variant) == (engine, variant));
        match phase.strip_prefix("read_") {
            Some(reader) => Some(&rows.find(|row| row.reader == reader)?.read),
            None => Some(&rows.find(|_| phase == "write")?.write),
        }
    }

    /// Finds the two figures of a headline. `None` if the source has words in place of them, or if
    /// they are not here.
    pub(crate) fn printed(&self, headline: &Headline) -> Option<Printed> {
        let there = headline.as_published.as_ref().filter(|_| headline.said.is_none())?;
        let of = Wanted {
            phase: there.phase.as_ref().unwrap_or(&headline.phase),
            engine: &headline.of,
            scale: headline.scale,
            variant: there.variant.as_deref(),
        };
        let to = Wanted {
            phase: there.to_phase.as_deref().unwrap_or(of.phase),
            engine: headline.to.as_deref().unwrap_or(of.engine),
            scale: headline.to_scale.or(of.scale),
            variant: there.to_variant.as_deref().or(of.variant),
        };
        let (of, unit) = self.find(headline.measure, &of)?;
        let to = match headline.printed_to {
            Some(to) => to,
            None => self.find(headline.measure, &to)?.0,
        };
        Some(Printed { of, to, unit })
    }

    fn find(&self, measure: Measure, wanted: &Wanted<'_>) -> Option<(Figure, Unit)> {
        let Wanted { phase, engine, scale, variant } = *wanted;
        let (column, unit) = match measure {
            Measure::Time | Measure::TimePerRow => {
                let found = self.phases.iter().find(|figure| {
                    (&*figure.phase, &*figure.engine, figure.scale) == (phase, engine, scale)
                        && (figure.variant.is_none() || figure.variant.as_deref() == variant)
                })?;
                return Some((Figure::Number(found.value), self.unit));
            }
            Measure::ServerCpu => (0, Unit::Percent),
            Measure::ServerMemory => (1, Unit::Kilobytes),
            Measure::ServerIo => (2, Unit::KilobytesPerSecond),
            Measure::ClientCpu => (3, Unit::Percent),
            Measure::Network => (5, Unit::Kilobits),
            Measure::Disk if phase == "write" => (6, Unit::Mebibytes),
            Measure::Disk | Measure::Memory | Measure::Loss | Measure::Size => return None,
        };
        let used = self.used(engine, variant?, phase)?.get(column)?;
        Some((Figure::Number(*used), unit))
    }
}
