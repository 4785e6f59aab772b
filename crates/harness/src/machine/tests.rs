use super::*;

/// A made-up tree of a machine's files, each with its text and the end of a line.
pub fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = tree.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    tree
}

const MOUNTS: &str = "\
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
30 27 0:27 / /mnt rw - ext4 /dev/old rw
31 27 0:27 / /mnt rw,noatime master:2 - tmpfs none rw,size=4k
32 31 8:1 / /mnt/my\\040card rw - vfat /dev/sda1 rw,sync";

#[test]
fn a_path_lies_on_the_deepest_and_latest_mount_above_it() {
    let mount = |path| mount_of(MOUNTS, Path::new(path)).unwrap();
    let root = mount("/mntx/y");
    assert_eq!((root.file_system.as_str(), root.device.as_str()), ("ext4", "/dev/vda"));
    assert_eq!(root.options, "rw,relatime,errors=remount-ro");
    assert_eq!(mount("/mnt/other").file_system, "tmpfs");
    assert_eq!(mount("/mnt/my card/db").options, "rw,sync");
}

#[test]
fn the_cpu_is_named_on_intel_and_on_a_raspberry_pi() {
    let intel = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n";
    assert_eq!(cpu_model(intel).as_deref(), Some("AMD EPYC"));
    let pi = "processor\t: 0\nBogoMIPS\t: 38.40\n\nModel\t\t: Raspberry Pi 3 Model B\n";
    assert_eq!(cpu_model(pi).as_deref(), Some("Raspberry Pi 3 Model B"));
    assert_eq!(cpu_model("processor : 0"), None);
}

#[test]
fn this_machine_can_be_read() {
    let machine = System::here().machine(Path::new("/proc/self"));
    assert_eq!(machine.file_system.as_deref(), Some("proc"));
    assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 16 << 20));
    assert!(machine.cpus.is_some() && machine.kernel.is_some() && machine.load.is_some());
}

#[test]
fn a_battery_counts_when_it_is_the_machines_own_and_drained() {
    let tree = tempfile::tempdir().unwrap();
    let supply = |name: &str, files: &[(&str, &str)]| {
        let dir = tree.path().join("sys/class/power_supply").join(name);
        fs::create_dir_all(&dir).unwrap();
        files.iter().for_each(|(file, text)| fs::write(dir.join(file), text).unwrap());
    };
    let system = System::at(tree.path());
    assert!(!system.discharging());
    supply("mouse", &[("type", "Battery\n"), ("scope", "Device\n"), ("status", "Discharging\n")]);
    supply("AC", &[("type", "Mains\n"), ("online", "0\n")]);
    supply("BAT0", &[("type", "Battery\n"), ("status", "Charging\n")]);
    assert!(!system.discharging());
    supply("BAT0", &[("status", "Discharging\n")]);
    assert!(system.discharging());
}

#[test]
fn what_a_machine_does_not_tell_is_absent() {
    let tree = tempfile::tempdir().unwrap();
    let system = System::at(tree.path());
    let machine = Machine { cpus: None, ..system.machine(Path::new("/data")) };
    assert_eq!(
        serde_json::to_value(machine).unwrap(),
        serde_json::to_value(Machine::default()).unwrap()
    );
    assert_eq!(system.swap_used(), None);
    fs::create_dir(tree.path().join("proc")).unwrap();
    for nonsense in ["", "SwapTotal: many kB\nSwapFree: 1 kB\n", "SwapTotal: 1 kB\nSwapFree: 2 kB"]
    {
        fs::write(tree.path().join("proc/meminfo"), nonsense).unwrap();
        assert_eq!(system.swap_used(), None, "{nonsense}");
    }
    fs::write(tree.path().join("proc/meminfo"), "SwapTotal: 9 kB\nSwapFree: 2 kB\n").unwrap();
    assert_eq!(system.swap_used(), Some(7 * 1024));
}
