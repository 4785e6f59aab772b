use std::fs;

use super::*;

const MOUNTS: &str = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      31 27 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      32 27 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

fn tree(mounts: &str) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    for dir in ["proc/self", "sys/fs/cgroup/cpu,cpuacct/mine", "sys/fs/cgroup/memory"] {
        fs::create_dir_all(tree.path().join(dir)).unwrap();
    }
    fs::write(tree.path().join("proc/self/mountinfo"), mounts).unwrap();
    fs::write(tree.path().join("proc/self/cgroup"), "4:memory:/\n2:cpu,cpuacct:/mine\n0::/\n")
        .unwrap();
    tree
}

fn asked() -> Limits {
    let limits = [("memory.max", "1000"), ("memory.swap.max", "0"), ("cpu.max", "16000 10000")];
    limits.map(|(name, limit)| (name.to_owned(), limit.to_owned())).into()
}

#[test]
fn every_controller_has_a_group_of_its_own_with_its_limits() {
    let tree = tree(MOUNTS);
    let created = open(&System::at(tree.path()), false, "id", &["cpu", "memory"]).unwrap();
    let created = created.group("", &asked()).unwrap();
    let at = |path: &str| tree.path().join("sys/fs/cgroup").join(path);
    assert_eq!(created.dirs, [at("memory/embermark-id"), at("cpu,cpuacct/mine/embermark-id")]);
    let read = |path: &str| fs::read_to_string(at(path)).unwrap();
    assert_eq!(read("memory/embermark-id/memory.limit_in_bytes"), "1000");
    assert_eq!(read("memory/embermark-id/memory.memsw.limit_in_bytes"), "1000");
    assert_eq!(read("cpu,cpuacct/mine/embermark-id/cpu.cfs_quota_us"), "16000");
    assert_eq!(read("cpu,cpuacct/mine/embermark-id/cpu.cfs_period_us"), "10000");
    assert_eq!(created.limits.len(), 4);
}

#[test]
fn without_one_of_the_controllers_it_is_refused_by_name() {
    let tree = tree(MOUNTS.lines().take(2).next().unwrap());
    let why = open(&System::at(tree.path()), true, "id", &["memory"]).unwrap_err();
    assert!(why.contains("no cgroup v1 hierarchy has the controller 'memory'"), "{why}");
}
