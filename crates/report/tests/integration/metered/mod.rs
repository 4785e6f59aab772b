//! A result with energy: each engine takes another power over the idle draw of the device.

use embermark_model::result::{
    Energy, EnergyMeasurement, EnergySource, Period, ResultFile, Wear, WearCounter, WearUnit,
};

/// Watts of the idle device.
pub const IDLE: f64 = 2.0;

/// Returns the watts over the idle draw for the index of a cell.
pub fn watts(place: usize) -> f64 {
    1.5 + place as f64 / 4.0
}

/// Gives every run its energy, and the manifest its source.
pub fn metered(mut file: ResultFile) -> ResultFile {
    let source = EnergySource {
        id: "meter".to_owned(),
        about: "external meter (meter.csv)".to_owned(),
        idle_watts: Some(IDLE),
        idle_spread_watts: Some(0.01),
        ..EnergySource::default()
    };
    for (place, cell) in file.cells.iter_mut().enumerate() {
        let phases = cell.trials.iter_mut().flat_map(|trial| &mut trial.phases);
        for run in phases.flat_map(|phase| &mut phase.runs) {
            let seconds = run.elapsed_ns as f64 / 1e9;
            let began = "2026-03-01T12:00:00Z".to_owned();
            run.period = Some(Period { began, lasted_ns: run.elapsed_ns });
            run.energy = Some(Energy::new(&source, (IDLE + watts(place)) * seconds, seconds));
        }
    }
    let sources = vec![source];
    file.manifest.energy = Some(EnergyMeasurement { sources, ..EnergyMeasurement::default() });
    file.manifest.wear = Some(Wear {
        disk: Some("/dev/mmcblk0".to_owned()),
        counters: vec![WearCounter {
            name: "life used, cells of kind A".to_owned(),
            source: "sysfs device/life_time".to_owned(),
            unit: WearUnit::Percent,
            resolution: 10.0,
            before: 20.0,
            after: Some(20.0),
        }],
        not_counted: Vec::new(),
    });
    file
}
