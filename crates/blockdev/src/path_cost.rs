//! Measures the time that a request takes to a timed device and back on this machine.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use embermark_model::result::StoragePath;

use crate::device::unmount;
use crate::error::{DeviceError, Result};
use crate::loop_device::LoopDevice;
use crate::medium::FILE;
use crate::server::Server;
use crate::states::SECTOR;
use crate::timed::{Request, TimedMedium, Timing};

/// Size of the device used, in bytes.
const BYTES: u64 = 64 << 20;
/// Sizes of small and large requests, in bytes.
const SMALL: usize = 4 << 10;
const LARGE: usize = 128 << 10;
/// Measurements per kind of request.
const TIMES: u64 = 300;

/// Time of each request in ns. Processors go idle in that time, as they do on imitated media, so
/// that the result includes waking them.
const TAKES_NS: u64 = 400_000;

/// A device whose requests all take the same time.
struct Fixed;

impl Timing for Fixed {
    fn end(&mut self, _: Request, now: u64) -> u64 {
        now + TAKES_NS
    }
}

/// A buffer aligned for direct I/O.
#[repr(align(4096))]
struct Aligned([u8; LARGE]);

/// Measures what the path to a device in `folder` costs. Removes the device afterwards. The result is
/// the 10th percentile, over 300 direct requests, of the time beyond the device's own. It takes about
/// a second.
///
/// # Errors
/// If FUSE or a loop device is not available.
pub fn measure_path(folder: &Path) -> Result<StoragePath> {
    let (fuse, image) = (folder.join("device"), folder.join("image"));
    fs::create_dir_all(&fuse).map_err(DeviceError::io("make", &fuse))?;
    let made = File::create(&image).and_then(|file| file.set_len(BYTES));
    made.map_err(DeviceError::io("make", &image))?;
    let path = image.clone();
    let medium = move || {
        TimedMedium::open(&path, Box::new(Fixed), 1, StoragePath::default(), Arc::default())
    };
    let server = Server::mount(medium, fuse.clone())
        .map_err(DeviceError::io("mount a FUSE file system at", &fuse))?;
    // The server has the file open. Without a name it takes no space after a kill.
    let removed = fs::remove_file(&image).map_err(DeviceError::io("remove", &image));
    let cost = removed.and_then(|()| {
        measure_file(&fuse.join(FILE)).map_err(DeviceError::io("measure a loop device over", &fuse))
    });
    let unmounted = unmount(&fuse).map_err(io::Error::from).and_then(|()| server.join());
    unmounted.map_err(DeviceError::io("unmount", &fuse))?;
    fs::remove_dir(&fuse).map_err(DeviceError::io("remove", &fuse))?;
    cost
}

fn measure_file(file: &Path) -> io::Result<StoragePath> {
    let device = LoopDevice::attach(file, SECTOR as u32)?;
    let mut options = OpenOptions::new();
    let open = options.read(true).write(true).custom_flags(libc::O_DIRECT).open(&device.path)?;
    let mut data = Box::new(Aligned([0; LARGE]));
    // Writes come first, so that reads find written blocks.
    let offset = |i: u64, length: usize| i * 7919 % (BYTES / length as u64) * length as u64;
    let large = excess_percentile(|i| open.write_all_at(&data.0, offset(i, LARGE)))?;
    let write_ns = excess_percentile(|i| open.write_all_at(&data.0[..SMALL], offset(i, SMALL)))?;
    let read_ns =
        excess_percentile(|i| open.read_exact_at(&mut data.0[..SMALL], offset(i, SMALL)))?;
    let flush_ns = excess_percentile(|_| open.sync_data())?;
    let further = (LARGE - SMALL) as u64 >> 10;
    Ok(StoragePath {
        read_ns,
        write_ns,
        flush_ns,
        kib_ns: large.saturating_sub(write_ns) / further,
    })
}

/// Returns the 10th percentile of the time of a request beyond [`TAKES_NS`]. On a busy machine the
/// other requests include waiting for a processor.
fn excess_percentile(mut request: impl FnMut(u64) -> io::Result<()>) -> io::Result<u64> {
    let mut all = Vec::with_capacity(TIMES as usize);
    for i in 0..TIMES {
        let begun = Instant::now();
        request(i)?;
        all.push((begun.elapsed().as_nanos() as u64).saturating_sub(TAKES_NS));
    }
    all.sort_unstable();
    Ok(all[all.len() / 10])
}

#[cfg(test)]
mod tests {
    use embermark_skips::skipped;

    use super::*;
    use crate::enter_mount_namespace;

    #[test]
    fn the_way_to_a_device_costs_something_and_leaves_nothing() {
        if !nix::unistd::geteuid().is_root() {
            skipped("root", "only root can mount a file system");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let cost = std::thread::scope(|scope| {
            let measured = scope.spawn(|| {
                enter_mount_namespace().unwrap();
                measure_path(folder.path()).unwrap()
            });
            measured.join().unwrap()
        });
        let all = [cost.read_ns, cost.write_ns, cost.flush_ns];
        assert!(all.iter().all(|ns| *ns > 1_000), "{cost:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
