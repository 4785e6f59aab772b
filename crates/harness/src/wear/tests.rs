use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use embermark_model::result::WearUnit;
use nix::sys::stat::{major, minor};
use tempfile::TempDir;

use super::*;
use crate::system::tests::tree;

/// A device whose database directory is on the disk with these files, and a `smartctl` with this
/// output.
struct Device {
    tree: TempDir,
    smartctl: PathBuf,
}

impl Device {
    fn of(disk: &str, files: &[(&str, &str)], said: Option<&str>) -> Self {
        let at = format!("sys/devices/bus/block/{disk}");
        let files: Vec<_> =
            files.iter().map(|(file, text)| (format!("{at}/{file}"), *text)).collect();
        let mut files: Vec<(&str, &str)> =
            files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
        let size = format!("{at}/size");
        files.push((&size, "1000"));
        let tree = tree(&files);
        let dev = fs::metadata(tree.path()).unwrap().dev();
        let link = tree.path().join(format!("sys/dev/block/{}:{}", major(dev), minor(dev)));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(tree.path().join(&at), link).unwrap();
        let smartctl = tree.path().join("smartctl");
        if let Some(said) = said {
            let script = format!(
                "#!/bin/sh\n[ \"$*\" = \"--json -x /dev/{disk}\" ] || exit 9\ncat <<'END'\n{said}\nEND\n"
            );
            fs::write(&smartctl, script).unwrap();
            fs::set_permissions(&smartctl, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { tree, smartctl }
    }

    fn wear(&self) -> Wear {
        read_with(&System::at(self.tree.path()), self.tree.path(), &self.smartctl)
    }

    fn counters(&self) -> Vec<(String, String, WearUnit, f64)> {
        let of = |of: WearCounter| (of.name, of.source, of.unit, of.before);
        self.wear().counters.into_iter().map(of).collect()
    }

    /// Why the disk reports nothing.
    fn why(&self) -> String {
        self.wear().not_counted[0].clone()
    }
}

#[test]
fn an_emmc_tells_its_life_in_steps_before_and_after() {
    let device = Device::of(
        "mmcblk0",
        &[
            ("device/type", "MMC"),
            ("device/life_time", "0x02 0x00"),
            ("device/pre_eol_info", "0x01"),
        ],
        None,
    );
    let mut wear = device.wear();
    assert_eq!(wear.disk.as_deref(), Some("/dev/mmcblk0"));
    let life = wear.counters[0].clone();
    assert_eq!((life.before, life.resolution, life.after), (20.0, 10.0, None));
    assert_eq!(wear.counters.len(), 2, "of cells that do not tell nothing is said");
    fs::write(
        device.tree.path().join("sys/devices/bus/block/mmcblk0/device/life_time"),
        "0x03 0x00\n",
    )
    .unwrap();
    add_after(&mut wear, &device.wear());
    assert_eq!(
        wear.counters.iter().map(|of| of.after).collect::<Vec<_>>(),
        [Some(30.0), Some(1.0)]
    );
    // For another disk there is no value after the run.
    let other = Wear { disk: Some("/dev/mmcblk1".to_owned()), ..device.wear() };
    add_after(&mut wear, &other);
    assert_eq!(wear.counters[0].after, None);
}

const NVME: &str = r#"{ "json_format_version": [1, 0], "smartctl": { "version": [7, 4], "exit_status": 0 },
  "device": { "name": "/dev/nvme0n1", "protocol": "NVMe" },
  "nvme_smart_health_information_log": { "critical_warning": 0, "temperature": 38, "available_spare": 100,
    "percentage_used": 3, "data_units_read": 1000, "data_units_written": 2000, "host_writes": 77 },
  "logical_block_size": 512 }"#;

#[test]
fn an_nvme_disk_is_asked_by_smartctl() {
    let device = Device::of("nvme0n1", &[], Some(NVME));
    let wanted = [
        ("life used", "smartctl percentage_used", WearUnit::Percent, 3.0),
        ("bytes written", "smartctl data_units_written", WearUnit::Bytes, 2_000.0 * 512_000.0),
    ];
    let wanted =
        wanted.map(|(name, source, unit, value)| (name.to_owned(), source.to_owned(), unit, value));
    assert_eq!(device.counters(), wanted);
}

const SATA: &str = r#"{ "smartctl": { "exit_status": 4 }, "logical_block_size": 512,
  "ata_smart_attributes": { "revision": 1, "table": [
    { "id": 177, "name": "Wear_Leveling_Count", "value": 93, "worst": 93, "raw": { "value": 131, "string": "131" } },
    { "id": 241, "name": "Total_LBAs_Written", "value": 99, "raw": { "value": 4000, "string": "4000" } } ] } }"#;

const STATISTICS: &str = r#"{ "logical_block_size": 4096, "ata_device_statistics": { "pages": [
    { "number": 1, "name": "General Statistics", "table": [ { "offset": 24, "name": "Logical Sectors Written", "size": 6, "value": 5000 } ] },
    { "number": 7, "name": "Solid State Device Statistics", "table": [
      { "offset": 8, "name": "Percentage Used Endurance Indicator", "size": 1, "value": 12 } ] } ] },
  "ata_smart_attributes": { "table": [ { "id": 233, "name": "Media_Wearout_Indicator", "value": 80, "raw": { "value": 0 } } ] } }"#;

#[test]
fn a_sata_disk_tells_by_statistics_and_else_by_attributes() {
    let read = |said| {
        let counters = Device::of("sda", &[("queue/rotational", "0")], Some(said)).counters();
        counters.into_iter().map(|(_, source, _, value)| (source, value)).collect::<Vec<_>>()
    };
    let attributes =
        [("smartctl Wear_Leveling_Count", 7.0), ("smartctl Total_LBAs_Written", 4_000.0 * 512.0)];
    assert_eq!(read(SATA), attributes.map(|(source, value)| (source.to_owned(), value)));
    let statistics = [
        ("smartctl Percentage Used", 12.0),
        ("smartctl Logical Sectors Written", 5_000.0 * 4_096.0),
    ];
    assert_eq!(read(STATISTICS), statistics.map(|(source, value)| (source.to_owned(), value)));
}

#[test]
fn what_cannot_be_told_says_why() {
    assert!(Device::of("nvme0n1", &[], None).why().contains("need smartctl (smartmontools): no "));
    let denied = r#"{ "smartctl": { "exit_status": 2, "messages": [
        { "string": "Smartctl open device: /dev/nvme0n1 failed: Permission denied", "severity": "error" } ] } }"#;
    assert!(
        Device::of("nvme0n1", &[], Some(denied)).why().ends_with("Permission denied; run as root")
    );
    let bridge = r#"{ "smartctl": { "messages": [ { "string": "Unknown USB bridge", "severity": "error" } ] } }"#;
    assert!(
        Device::of("sda", &[], Some(bridge))
            .why()
            .contains("reports no wear counters of /dev/sda: Unknown USB bridge")
    );
    assert!(Device::of("sda", &[], Some("smartctl 6.6\n")).why().contains("needs version 7.0"));
    assert_eq!(
        Device::of("vda", &[], None).why(),
        "a virtual disk has no wear counters: the device below it has them"
    );
    assert_eq!(
        Device::of("mmcblk0", &[("device/type", "SD")], None).why(),
        "an SD card has no wear counters"
    );
    assert!(
        Device::of("mmcblk0", &[("device/type", "MMC")], None)
            .why()
            .contains("does not report its wear")
    );
    let none = read_with(&System::at(tree(&[]).path()), Path::new("/"), Path::new("smartctl"));
    assert!(
        none.not_counted[0].contains("cannot be identified") && none.disk.is_none(),
        "{none:?}"
    );
}

#[test]
fn a_file_system_counts_what_it_writes() {
    // The disk below this test's directory, if it reports wear: what is written and synced is
    // counted.
    let here = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let written = || {
        let wear = read(&System::at("/"), here.path());
        wear.counters
            .into_iter()
            .find(|of| of.source.starts_with("ext4") || of.source.starts_with("f2fs"))
    };
    let Some(before) = written() else {
        embermark_skips::skipped(
            "file system",
            "no file system that counts what it writes, as ext4 and f2fs do",
        );
        return;
    };
    let file = fs::File::create(here.path().join("rows")).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(7), 32 << 20), &mut &file).unwrap();
    file.sync_all().unwrap();
    let after = written().unwrap();
    assert!(
        after.before - before.before >= f64::from(32 << 20),
        "{} then {}",
        before.before,
        after.before
    );
}
