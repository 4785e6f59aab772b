use super::*;

const MOUNTS: &str = "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      30 27 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

/// A hierarchy in which this process is in a user's group.
fn tree(controllers: &str) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("proc/self/mountinfo", MOUNTS);
    file("proc/self/cgroup", "1:name=systemd:/\n0::/user/run.scope\n");
    file("sys/fs/cgroup/cgroup.controllers", controllers);
    file("sys/fs/cgroup/user/run.scope/cgroup.controllers", controllers);
    tree
}

fn asked() -> Limits {
    let limit = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Limits::from([limit("memory.max", "1073741824"), limit("cpu.max", "16000 10000")])
}

fn open(tree: &tempfile::TempDir, superuser: bool) -> Result<Hierarchy, String> {
    Hierarchy::open(&System::at(tree.path()), superuser, "id", &["cpu", "memory"])
}

#[test]
fn the_superusers_group_lies_below_the_root_and_has_the_limits() {
    let tree = tree("cpuset cpu io memory pids\n");
    let hierarchy = open(&tree, true).unwrap();
    let cgroup = hierarchy.group("", &asked()).unwrap();
    let read =
        |file: &str| fs::read_to_string(tree.path().join("sys/fs/cgroup").join(file)).unwrap();
    assert_eq!(read("cgroup.subtree_control"), "+cpu +memory +io");
    assert_eq!(read("embermark-id/memory.max"), "1073741824");
    assert_eq!(read("embermark-id/cpu.max"), "16000 10000");
    assert_eq!(cgroup.limits, asked());
    cgroup.add(4711).unwrap();
    assert_eq!(read("embermark-id/cgroup.procs"), "4711");
}

#[test]
fn a_user_leaves_the_group_that_was_given_to_him_and_comes_back() {
    let tree = tree("cpu memory\n");
    let hierarchy = open(&tree, false).unwrap();
    let group = hierarchy.group("", &asked()).unwrap();
    let own = tree.path().join("sys/fs/cgroup/user/run.scope");
    let read = |file: &str| fs::read_to_string(own.join(file)).unwrap();
    let pid = std::process::id().to_string();
    assert_eq!(read("embermark-id-parent/cgroup.procs"), pid);
    assert_eq!(read("cgroup.subtree_control"), "+cpu +memory");
    assert!(own.join("embermark-id/memory.max").exists());
    drop((group, hierarchy));
    assert_eq!(read("cgroup.procs"), pid);
}

#[test]
fn where_limits_cannot_be_set_it_is_refused_with_the_reason_and_the_way_out() {
    let refusal = |tree: &tempfile::TempDir| open(tree, true).unwrap_err();
    let text = refusal(&tree("hugetlb\n"));
    assert!(text.contains("no controller 'cpu' (it has: hugetlb)"), "{text}");
    assert!(text.contains("run as root, or inside 'systemd-run"), "{text}");
    assert!(refusal(&tree("")).contains("it has: none"));
    let none = tempfile::tempdir().unwrap();
    assert!(refusal(&none).contains("no cgroup v2 file system is mounted"));
    // A folder with the file's name acts as a file that cannot be written.
    let closed = tree("cpu memory\n");
    fs::create_dir(closed.path().join("sys/fs/cgroup/cgroup.subtree_control")).unwrap();
    assert!(refusal(&closed).contains("cgroup.subtree_control refuses '+cpu +memory'"));
}

#[test]
fn a_limit_on_storage_that_the_kernel_does_not_take_is_left_out_and_not_told() {
    let tree = tree("cpu memory\n");
    fs::create_dir_all(tree.path().join("sys/fs/cgroup/embermark-id/io.max")).unwrap();
    let mut asked = asked();
    asked.insert("io.max".to_owned(), "8:0 wbps=1".to_owned());
    let cgroup = open(&tree, true).unwrap().group("", &asked).unwrap();
    assert_eq!(cgroup.limits.len(), 2);
}

#[test]
fn a_group_of_memory_alone_needs_no_other_controller() {
    let tree = tree("memory\n");
    let system = System::at(tree.path());
    let hierarchy = Hierarchy::open(&system, true, "id", &["memory"]).unwrap();
    let asked = Limits::from([("memory.max".to_owned(), "268435456".to_owned())]);
    let group = hierarchy.group("-trial", &asked).unwrap();
    assert!(group.dirs[0].ends_with("sys/fs/cgroup/embermark-id-trial"));
    assert_eq!(group.limits, asked);
}

#[test]
fn empty_groups_of_killed_runs_are_removed_and_those_in_use_stay() {
    let tree = tree("cpu memory\n");
    let root = tree.path().join("sys/fs/cgroup");
    let make = |name: &str| {
        let dir = root.join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    };
    let killed = make("embermark-20261128T170000Z-0123abcd-trial");
    let of_a_user = make("user/run.scope/embermark-20261128T170000Z-0123abcd-parent");
    let other = make("embermark-test.scope");
    let full = make("embermark-20261128T170000Z-00000001");
    fs::write(full.join("cgroup.procs"), "1").unwrap();
    let (system, run_id) = (System::at(tree.path()), "20261128T170000Z-00000002");
    let hierarchy = Hierarchy::open(&system, true, run_id, &["cpu", "memory"]).unwrap();
    let active = hierarchy.group("", &asked()).unwrap();
    let in_use = active.dirs[0].clone();
    // In the file system of groups these files keep no group.
    asked().keys().for_each(|file| fs::remove_file(in_use.join(file)).unwrap());

    remove_abandoned(&system);
    assert!(!killed.exists() && !of_a_user.exists());
    assert!(other.exists() && full.exists() && in_use.exists());
    drop(active);
    assert!(!in_use.exists());
}

#[test]
fn what_a_group_came_to_is_read_by_the_names_of_either_version() {
    for (peak, events) in
        [("memory.peak", "memory.events"), ("memory.max_usage_in_bytes", "memory.oom_control")]
    {
        let tree = tree("cpu memory\n");
        let group = open(&tree, true).unwrap().group("", &asked()).unwrap();
        assert_eq!((group.peak_bytes(), group.oom_kills()), (None, 0));
        fs::write(group.dirs[0].join(peak), "4096\n").unwrap();
        fs::write(group.dirs[0].join(events), "oom 3\noom_kill 0\n").unwrap();
        assert_eq!((group.peak_bytes(), group.oom_kills()), (Some(4096), 0));
        fs::write(group.dirs[0].join(events), "oom 3\noom_kill 2\n").unwrap();
        assert_eq!(group.oom_kills(), 2);
    }
}
