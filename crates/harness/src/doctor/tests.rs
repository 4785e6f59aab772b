use std::os::unix::fs::symlink;

use nix::sys::stat::makedev;

use super::*;
use crate::system::tests::tree;

struct Tree(tempfile::TempDir);

impl Tree {
    fn of(files: &[(&str, &str)]) -> Self {
        Self(tree(files))
    }

    fn link(&self, at: &str, to: &str) {
        let at = self.0.path().join(at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(self.0.path().join(to), at).unwrap();
    }

    fn system(&self) -> System {
        System::at(self.0.path())
    }
}

const CARD: &str = "sys/devices/platform/mmc0/block/mmcblk0";

fn card(more: &[(&str, &str)]) -> Tree {
    let files = [
        ("mmcblk0p2/partition", "2"),
        ("device/type", "SD"),
        ("device/name", "SC32G"),
        ("size", "62333952"),
        ("queue/write_cache", "write through"),
        ("queue/rotational", "0"),
    ];
    let files = files.iter().filter(|(file, _)| more.iter().all(|(other, _)| other != file));
    let files: Vec<_> =
        files.chain(more).map(|(file, text)| (format!("{CARD}/{file}"), *text)).collect();
    let files: Vec<_> = files.iter().map(|(file, text)| (file.as_str(), *text)).collect();
    let tree = Tree::of(&files);
    tree.link("sys/dev/block/179:2", &format!("{CARD}/mmcblk0p2"));
    tree
}

#[test]
fn a_partition_is_that_of_its_disk_and_a_card_says_what_it_is() {
    let tree = card(&[]);
    let disk = block_device::find_disk(&tree.system(), makedev(179, 2), Some("/dev/root")).unwrap();
    assert_eq!(
        describe_disk(&disk),
        "SD card SC32G, 29.7 GiB, /dev/mmcblk0, its cache: write through"
    );
    assert_eq!(emmc_wear(&disk), None);
    assert_eq!(disk_warning(&disk), None);
    assert_eq!(block_device::find_disk(&tree.system(), makedev(0, 41), Some("overlay")), None);
}

#[test]
fn an_emmc_tells_how_worn_it_is_and_is_replaced_at_its_end() {
    let told = |life: &str, spare: &str| {
        let tree = card(&[
            ("device/type", "MMC"),
            ("device/life_time", life),
            ("device/pre_eol_info", spare),
        ]);
        let disk = block_device::find_disk(&tree.system(), makedev(179, 2), None).unwrap();
        (emmc_wear(&disk), disk_warning(&disk).map_or(0, |_| 1))
    };
    let young = "0 to 10 % and 20 to 30 % of its life used; it has spare blocks";
    assert_eq!(told("0x01 0x03", "0x01"), (Some(young.to_owned()), 0));
    let old = "90 to 100 % and more than all of its life used; it has spare blocks";
    assert_eq!(told("0x0a 0x0b", "0x01"), (Some(old.to_owned()), 1));
    let spent = "10 to 20 % of its life used; four fifths of its spare blocks are used";
    assert_eq!(told("0x00 0x02", "0x02"), (Some(spent.to_owned()), 1));
    assert_eq!(told("0x00 0x00", "0x00"), (None, 0), "a kind that does not tell");
}

#[test]
fn what_is_made_of_disks_is_the_first_of_them_and_a_disk_by_usb_is_told() {
    let usb = "sys/devices/pci0/usb2/2-1/host0/block/sda";
    let tree = Tree::of(&[
        (&format!("{usb}/device/model"), "Flash Disk"),
        (&format!("{usb}/sda1/partition"), "1"),
        ("sys/devices/virtual/block/dm-0/size", "4096"),
    ]);
    tree.link("sys/devices/virtual/block/dm-0/slaves/sda1", &format!("{usb}/sda1"));
    tree.link("sys/class/block/vault", "sys/devices/virtual/block/dm-0");
    let disk = block_device::find_disk(&tree.system(), makedev(0, 30), Some("/dev/vault")).unwrap();
    assert_eq!(describe_disk(&disk), "disk by USB Flash Disk, /dev/sda");
}

#[test]
fn a_slow_clock_is_warned_of_and_a_fast_one_is_not() {
    let source = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let warned = |name: &str| {
        let warnings = clock_warnings(&Tree::of(&[(source, name)]).system());
        warnings.iter().any(|warning| warning.contains(&format!("'{name}'")))
    };
    assert!(warned("hpet") && warned("acpi_pm"));
    assert!(!warned("tsc") && !warned("arch_sys_counter"));
    let tree = Tree::of(&[(source, "tsc")]);
    assert!(describe_clock(&tree.system()).unwrap().starts_with("tsc, time of day "));
    assert_eq!(describe_clock(&Tree::of(&[]).system()), None);
}

#[test]
fn a_supply_says_what_it_is_and_the_firmware_what_it_has_seen() {
    let supply = "sys/class/power_supply";
    let tree = Tree::of(&[
        (&format!("{supply}/AC/type"), "Mains"),
        (&format!("{supply}/AC/online"), "0"),
        (&format!("{supply}/BAT0/type"), "Battery"),
        (&format!("{supply}/BAT0/capacity"), "81"),
        (&format!("{supply}/BAT0/status"), "Discharging"),
        (&format!("{supply}/mouse/type"), "Battery"),
        (&format!("{supply}/mouse/scope"), "Device"),
    ]);
    let said = describe_power(&tree.system());
    assert_eq!(said.as_deref(), Some("not plugged in; battery 81 %, discharging"));
    assert_eq!(describe_power(&Tree::of(&[]).system()), None);

    let firmware = "sys/devices/platform/soc/soc:firmware/get_throttled";
    let seen = |bits: &str| power_warning(&Tree::of(&[(firmware, bits)]).system());
    let warning = seen("50000").unwrap();
    assert!(warning.contains("the voltage was too low and it was throttled"), "{warning}");
    assert_eq!(seen("0"), None);
    assert_eq!(seen("5"), None, "of this moment, which another warning tells");
}

#[test]
fn a_board_is_named_by_its_firmware_and_a_virtual_machine_is_one() {
    let board = |files: &[(&str, &str)]| Tree::of(files).system().machine(Path::new("/")).board;
    let pi = ("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0");
    assert_eq!(board(&[pi]).as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
    let product = [
        ("sys/class/dmi/id/sys_vendor", "LENOVO"),
        ("sys/class/dmi/id/product_name", "20XW"),
        ("proc/cpuinfo", "flags\t\t: fpu sse"),
    ];
    assert_eq!(board(&product).as_deref(), Some("LENOVO 20XW"));
    let guest = ("proc/cpuinfo", "model name\t: x\nflags\t\t: fpu hypervisor sse");
    assert_eq!(board(&[guest]).as_deref(), Some("a virtual machine"));
    assert_eq!(board(&[]), None);
}

#[test]
fn temperatures_are_of_the_zones_that_tell() {
    let zone = "sys/class/thermal/thermal_zone";
    let tree = Tree::of(&[
        (&format!("{zone}0/type"), "cpu-thermal"),
        (&format!("{zone}0/temp"), "48312"),
        (&format!("{zone}1/type"), "broken"),
    ]);
    assert_eq!(heat(&tree.system()).as_deref(), Some("cpu-thermal 48 °C"));
}

#[test]
fn this_machine_is_looked_at() {
    let found = inspect(Path::new("/proc/self/cwd"));
    let names: Vec<&str> = found.facts.iter().map(|fact| fact.name).collect();
    assert!(names.contains(&"memory") && names.contains(&"files"), "{names:?}");
    assert_eq!([size(3 << 20), size(3 << 29)], ["3 MiB", "1.5 GiB"]);
}
