//! Comparison of engines on many devices, ready for the page.
//!
//! Only a small part of a result is kept. A result is added and can be dropped before the next one
//! is read.

use std::collections::BTreeMap;
use std::mem;

use embermark_model::Durability;
use embermark_model::result::ResultFile;
use serde::{Serialize, Serializer};

use crate::advise::{self, AdviceTables, FleetAdvice};
use crate::evidence::{self, Record};
use crate::screen::means::{self, Line, Standing};
use crate::statistics::geometric_mean;
use crate::summary::{self, Entry};
use crate::{format, notes, text};

/// Content of the page of a fleet.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fleet {
    /// The devices, in the order in which they were added.
    pub devices: Vec<Device>,
    /// Engines, in the order of their first result.
    pub engines: Vec<Engine>,
    /// Workloads, scales and tiers that were compared on at least one device.
    pub lines: Vec<Compared>,
    /// Figure of each engine in each line on each device. Absent if the device did not run it.
    pub boxes: Vec<DeviceFigure>,
    /// Input of the advice for all devices.
    #[serde(skip)]
    advice: FleetAdvice,
}

/// A device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Device {
    /// Unique name.
    pub name: String,
    /// Model of the board from its firmware, or otherwise the CPU.
    pub model: String,
    /// Description of the machine in one line. Empty if there is no result.
    pub machine: String,
    /// Conditions that may have disturbed its figures.
    pub warnings: Vec<String>,
    /// Why there is no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
}

/// An engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Engine {
    /// Its id, or its name as a configuration.
    pub id: String,
    /// Its versions over the devices.
    pub versions: Vec<String>,
    /// Whether it is shown and never ranked.
    pub reference: bool,
    /// Whether its licence forbids publishing its figures.
    pub unpublishable: bool,
}

/// One workload at one scale, within one memory limit, in one tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Compared {
    /// The workload's id.
    pub workload: String,
    /// Scale and memory limit: `10k`, `100k within 256 MiB`.
    pub extent: String,
    /// The tier.
    pub tier: Durability,
}

/// Figure of an engine in one line on one device. All fields but the three indexes may be absent. A
/// page of many devices has tens of thousands of them, so it is serialized as `[device, line,
/// engine, ratio, ns, flags, says]`. The flags are 1 for `whole` and 2 for `best`, numbers have
/// five digits, and absent values at the end are left out.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(
        rename = "Packed",
        type = "[device: number, line: number, engine: number, ratio?: number | null, ns?: number | null, flags?: number, says?: string]"
    )
)]
pub struct DeviceFigure {
    /// Index in [`Fleet::devices`].
    pub device: usize,
    /// Index in [`Fleet::lines`].
    pub line: usize,
    /// Index in [`Fleet::engines`].
    pub engine: usize,
    /// Time divided by that of the device's fastest engine: the geometric mean over the phases that
    /// it answered.
    pub ratio: Option<f64>,
    /// Time of one operation in ns: the geometric mean over the same phases.
    pub ns: Option<f64>,
    /// Whether it answered every phase that any engine answered there.
    pub whole: bool,
    /// Whether it is the fastest of those with every phase, or not significantly slower.
    pub best: bool,
    /// Text that is shown instead of a ratio.
    pub says: Option<String>,
}

impl Serialize for DeviceFigure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { device, line, engine, ratio, ns, whole, best, says } = self;
        let flags = u8::from(*whole) + 2 * u8::from(*best);
        let (ratio, ns) = (ratio.map(format::five_digits), ns.map(format::five_digits));
        match (ratio, says) {
            (None, None) => (device, line, engine).serialize(to),
            (_, None) => (device, line, engine, ratio, ns, flags).serialize(to),
            (_, Some(says)) => (device, line, engine, ratio, ns, flags, says).serialize(to),
        }
    }
}

impl Fleet {
    /// Adds a device without a result, with the reason.
    pub fn lacks(&mut self, name: &str, why: &str) {
        let (name, lacks) = (text::plain(name), Some(text::plain(why)));
        self.devices.push(Device { name, lacks, ..Device::default() });
    }

    /// Adds a device's result. `record` has the tests of durability by which engines broke a promise.
    pub fn add(&mut self, name: &str, result: &ResultFile, record: &Record) {
        let machine = &result.manifest.machine;
        let model = machine.board.as_deref().or(machine.cpu.as_deref()).unwrap_or("unknown");
        self.devices.push(Device {
            name: text::plain(name),
            model: text::plain(model),
            machine: notes::machine(machine),
            warnings: result.manifest.warnings.iter().map(|warning| text::plain(warning)).collect(),
            lacks: None,
        });
        let mut advice = advise::tables(&[result], None, &[]);
        evidence::mark_advice(&mut advice, &[result], record);
        self.advice.add(&text::plain(name), advice);
        let (comparison, _) = evidence::compare(result, &[], record);
        let unpublishable = result.unpublishable();
        let versions: BTreeMap<&str, Vec<&str>> = summary::versions(result).into_iter().collect();
        for line in means::lines(&comparison.groups) {
            let place = self.line(&line);
            for (at, (engine, standing)) in line.group.engines.iter().zip(&line.boxes).enumerate() {
                let own = Engine {
                    id: text::plain(engine.id),
                    versions: Vec::new(),
                    reference: engine.reference,
                    unpublishable: unpublishable.contains(&engine.id),
                };
                let known = versions.get(engine.id).map(Vec::as_slice).unwrap_or_default();
                let column = self.engine(own, known);
                self.boxes.push(DeviceFigure {
                    device: self.devices.len() - 1,
                    line: place,
                    engine: column,
                    ns: time(&line, at),
                    ..figure_without_indexes(engine, standing)
                });
            }
        }
    }

    fn line(&mut self, line: &Line<'_>) -> usize {
        let compared = Compared {
            workload: text::plain(line.group.workload),
            extent: line.group.extent.to_string(),
            tier: line.group.durability,
        };
        place(&mut self.lines, compared, |a, b| a == b)
    }

    fn engine(&mut self, engine: Engine, versions: &[&str]) -> usize {
        let at = place(&mut self.engines, engine, |a, b| a.id == b.id);
        let known = &mut self.engines[at].versions;
        let further = versions.iter().map(|version| text::plain(version));
        *known = text::unique(mem::take(known).into_iter().chain(further));
        at
    }

    /// Takes the input of the advice for all devices and returns its tables.
    pub(crate) fn take_advice(&mut self) -> AdviceTables {
        mem::take(&mut self.advice).tables()
    }

    /// Returns the engines with figures that may not be published.
    pub fn unpublishable(&self) -> Vec<&str> {
        self.engines.iter().filter(|e| e.unpublishable).map(|e| e.id.as_str()).collect()
    }
}

/// Returns the index of an item in a list. Adds it if the list does not have it.
fn place<T>(all: &mut Vec<T>, one: T, same: impl Fn(&T, &T) -> bool) -> usize {
    all.iter().position(|other| same(other, &one)).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

/// Makes a box without indexes.
fn figure_without_indexes(engine: &summary::Engine<'_>, standing: &Standing<'_>) -> DeviceFigure {
    let says = match standing {
        Standing::Mean(mean) if engine.own_durability.is_none() => {
            return DeviceFigure {
                ratio: Some(mean.ratio),
                whole: mean.answered == mean.of,
                best: mean.best || mean.not_significant,
                ..DeviceFigure::default()
            };
        }
        // Only its author claims that it keeps the tier, so it is not ranked.
        Standing::Mean(_) => "own settings".to_owned(),
        Standing::Behind(shortfall) => shortfall.what.short(),
        Standing::Ended(status) => status.name().to_owned(),
        Standing::Weaker => "weaker".to_owned(),
        Standing::Broken => "broken".to_owned(),
        Standing::ByUrl => "by URL".to_owned(),
        Standing::Nothing => return DeviceFigure::default(),
    };
    DeviceFigure { says: Some(says), ..DeviceFigure::default() }
}

/// Returns the geometric mean of an engine's times over the phases for which it has a ratio.
fn time(line: &Line<'_>, place: usize) -> Option<f64> {
    let times = line.steps.iter().filter(|step| step.ratios[place].is_some()).filter_map(|step| {
        step.row.entries.get(place).and_then(Entry::measured).map(|one| one.figure.per_op_ns)
    });
    geometric_mean(times)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::load;

    fn result() -> ResultFile {
        load(Path::new("tests/fixtures/schema-1.json")).unwrap()
    }

    #[test]
    fn a_device_has_the_means_of_its_own_screen() {
        let result = result();
        let mut fleet = Fleet::default();
        fleet.add("roof", &result, &Record::default());
        let comparison = summary::compare(&result, &[]);
        let lines = means::lines(&comparison.groups);
        assert_eq!(fleet.lines.len(), lines.len());
        assert_eq!(fleet.boxes.len(), lines.iter().map(|line| line.boxes.len()).sum::<usize>());
        let mut means = 0;
        for line in &lines {
            for (engine, standing) in line.group.engines.iter().zip(&line.boxes) {
                let shown = fleet.boxes.iter().find(|shown| {
                    let at = &fleet.lines[shown.line];
                    let of = (at.workload.as_str(), at.extent.clone(), at.tier);
                    let own =
                        (line.group.workload, line.group.extent.to_string(), line.group.durability);
                    of == own && fleet.engines[shown.engine].id == engine.id
                });
                let shown = shown.unwrap();
                if let Standing::Mean(mean) = standing {
                    means += 1;
                    assert_eq!(shown.ratio, Some(mean.ratio));
                    assert_eq!(shown.whole, mean.answered == mean.of);
                    assert!(shown.ns.is_some() && shown.says.is_none());
                } else {
                    assert_eq!(shown.ratio, None);
                }
            }
        }
        assert!(means > 2, "{means}");
    }

    #[test]
    fn lines_and_engines_of_several_devices_are_the_same_ones() {
        let result = result();
        let mut other = result.clone();
        other.manifest.machine.board = Some("Raspberry Pi 4 Model B Rev 1.4\u{7}".to_owned());
        other.manifest.machine.cpu = Some("A72".to_owned());
        let mut fleet = Fleet::default();
        fleet.add("roof", &result, &Record::default());
        let (lines, engines, boxes) =
            (fleet.lines.clone(), fleet.engines.clone(), fleet.boxes.len());
        fleet.lacks("cellar", "not reached: no route to host");
        fleet.add("kitchen", &other, &Record::default());
        assert_eq!(
            (&fleet.lines, &fleet.engines, fleet.boxes.len()),
            (&lines, &engines, 2 * boxes)
        );
        assert_eq!(fleet.devices.len(), 3);
        assert_eq!(fleet.devices[1].lacks.as_deref(), Some("not reached: no route to host"));
        let kitchen = &fleet.devices[2];
        assert!(kitchen.model.starts_with("Raspberry Pi 4 Model B Rev 1.4"), "{}", kitchen.model);
        assert!(!kitchen.model.contains('\u{7}'));
        assert!(fleet.boxes[boxes..].iter().all(|shown| shown.device == 2));
    }
}
