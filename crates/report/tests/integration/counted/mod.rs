//! A result with counting trials. Each is a copy of the cell's first trial with made-up bytes.

use embermark_model::result::{DeviceIo, DiskSize, ResultFile, Trial};

/// Bytes that a run sends to the device.
const RUN: DeviceIo = DeviceIo { read_bytes: 0, written_bytes: 840_000, flushes: 12 };

/// Bytes that maintenance sends to the device.
const MAINTENANCE: DeviceIo = DeviceIo { read_bytes: 0, written_bytes: 420_000, flushes: 3 };

/// Size of a store that was loaded once.
const SIZE: DiskSize = DiskSize { allocated_bytes: 512_000, apparent_bytes: 510_000 };

/// Gives every cell with trials a counting trial.
pub fn counted(mut file: ResultFile) -> ResultFile {
    for cell in &mut file.cells {
        let first = cell.trials.first().filter(|_| !cell.reference);
        let Some(first) = first else { continue };
        let mut counting = Trial { disk: Some(SIZE), ..first.clone() };
        for phase in &mut counting.phases {
            phase.runs.reverse();
            phase.runs.truncate(1);
            for run in &mut phase.runs {
                (run.discarded, run.device_io) = (false, Some(RUN));
                let maintenance =
                    run.loaded.as_mut().and_then(|loaded| loaded.maintenance.as_mut());
                if let Some(maintenance) = maintenance {
                    maintenance.device_io = Some(MAINTENANCE);
                }
            }
        }
        cell.counting = Some(Box::new(counting));
    }
    file
}
