use std::fs;

use super::*;

fn host(mhz: &str, memory_kb: &str) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("proc")).unwrap();
    fs::write(tree.path().join("proc/cpuinfo"), format!("cpu MHz\t\t: {mhz}\n")).unwrap();
    fs::write(tree.path().join("proc/meminfo"), format!("MemTotal: {memory_kb} kB\n")).unwrap();
    tree
}

#[test]
fn limits_are_the_devices_memory_and_its_share_of_this_machines_clock() {
    let tree = host("10000.0", "16000000");
    let limits = find("pi-zero").unwrap().limits(&System::at(tree.path()), Path::new("/"));
    let limits = limits.unwrap().limits;
    assert_eq!(limits["memory.max"], "536870912");
    assert_eq!(limits["memory.swap.max"], "0");
    // One core of 1,000 MHz on cores of 10,000.
    assert_eq!(limits["cpu.max"], "1000 10000");
    assert_eq!(limits.get("io.max"), None);
}

#[test]
fn the_card_limits_the_disk_and_not_its_partition() {
    let tree = host("10000.0", "16000000");
    let data = tree.path().join("proc");
    let dev = data.metadata().unwrap().dev();
    let disk = tree.path().join("sys/devices/sda");
    fs::create_dir_all(disk.join("sda1")).unwrap();
    fs::write(disk.join("dev"), "8:0\n").unwrap();
    fs::write(disk.join("sda1/dev"), "8:1\n").unwrap();
    fs::write(disk.join("sda1/partition"), "1\n").unwrap();
    let blocks = tree.path().join("sys/dev/block");
    fs::create_dir_all(&blocks).unwrap();
    let link = blocks.join(format!("{}:{}", major(dev), minor(dev)));
    std::os::unix::fs::symlink(disk.join("sda1"), link).unwrap();
    let limits = find("pi3").unwrap().limits(&System::at(tree.path()), &data).unwrap();
    assert_eq!(limits.limits["io.max"], "8:0 riops=1500 wiops=500 wbps=10000000");
    assert!(!warning(&limits).contains("storage is this machine's"));
}

#[test]
fn a_machine_that_has_less_than_the_device_imitates_nothing() {
    let refusal = |tree: &tempfile::TempDir| {
        find("pi5").unwrap().limits(&System::at(tree.path()), Path::new("/")).unwrap_err()
    };
    assert!(refusal(&host("5000.0", "1000000")).contains("and this machine 1024 MB"));
    assert!(refusal(&host("1.0", "16000000")).contains("cores of 2400 MHz are"));
    assert!(find("pi33").unwrap_err().to_string().contains("did you mean 'pi3'?"));
}
