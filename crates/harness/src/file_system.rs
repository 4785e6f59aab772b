//! File systems on which figures or durability do not have the meaning they have on a local disk.

use std::path::Path;

use embermark_model::result::Machine;

/// File systems with the same warning: a description, and the consequence with advice.
struct Kinds {
    /// Names as in `proc_pid_mountinfo(5)`. A name that ends in a dot is a prefix.
    names: &'static [&'static str],
    what: &'static str,
    means: &'static str,
}

const KINDS: [Kinds; 7] = [
    Kinds {
        names: &["tmpfs", "ramfs"],
        what: "in memory",
        means: "syncs cost nothing and the durability tiers mean nothing; name a folder on a disk with --dir",
    },
    Kinds {
        names: &["overlay", "aufs"],
        what: "in a container's layers",
        means: "the first change of a file copies it, and no device is seen below; name a folder of a volume with --dir",
    },
    Kinds {
        names: &["9p", "virtiofs", "vboxsf", "prl_fs", "vmhgfs", "fuse.vmhgfs-fuse", "drvfs"],
        what: "in a folder that the host of this virtual machine shares",
        means: "every call goes to the host, which decides what a sync does: the tier power may not be kept; name a folder on the machine's own disk with --dir",
    },
    Kinds {
        names: &[
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "smbfs",
            "ceph",
            "fuse.ceph-fuse",
            "fuse.glusterfs",
            "fuse.sshfs",
            "afs",
        ],
        what: "on a network",
        means: "times are those of the network and its server, and engines that share memory between processes (SQLite's WAL, LMDB) are not safe there (https://www.sqlite.org/wal.html); name a folder on a local disk with --dir",
    },
    // Before user-space file systems, because some of these are such programs.
    Kinds {
        names: &["ecryptfs", "fuse.encfs", "fuse.gocryptfs", "fuse.cryfs"],
        what: "on an encrypting file system",
        means: "each page is encrypted when it is written and decrypted when it is read: figures include that; compare only with results of the same kind",
    },
    Kinds {
        names: &["fuse", "fuseblk", "fuse."],
        what: "on a file system that is a program",
        means: "every call waits for that program, which decides what a sync does: the tier power may not be kept; name a folder on a file system of the kernel with --dir",
    },
    Kinds {
        names: &["vfat", "msdos", "exfat"],
        what: "on a file system without a journal",
        means: "a power cut may damage the file system itself, whatever the engine has synced; name a folder on ext4, f2fs or the like with --dir",
    },
];

/// Mount options with the same warning.
const OPTIONS: [(&[&str], &str); 3] = [
    (
        &["nobarrier", "barrier=0"],
        "what is synced may still be in the disk's cache, so that the tier power promises what is not \
         kept; mount it without",
    ),
    (&["sync"], "every write waits for the disk, in every tier; mount it without"),
    (
        &["data=journal"],
        "every byte is written twice, first to the journal: times and bytes contain that; mount it \
         without, or keep it if your device has it",
    ),
];

/// Returns warnings about the file system below the databases in `data`.
pub(crate) fn warnings(machine: &Machine, data: &Path) -> Vec<String> {
    let kind = machine.file_system.as_deref().and_then(|kind| Some((kind, find_kinds(kind)?)));
    let kind = kind.map(|(kind, Kinds { what, means, .. })| {
        format!("the databases are {what} ({kind} at {}): {means}", data.display())
    });
    let journal = (machine.journal == Some(false)).then(|| {
        format!(
            "the file system at {} has no journal: a sync writes less than it does with one, and a power \
             cut may damage the file system itself; name a folder on a file system with one with --dir, \
             or keep it if your device has none",
            data.display()
        )
    });
    let options = machine.mount_options.as_deref().unwrap_or_default();
    let options = OPTIONS.iter().filter_map(|(names, means)| {
        let option = options.split(',').find(|option| names.contains(option))?;
        Some(format!("the file system is mounted with {option}: {means}"))
    });
    kind.into_iter().chain(journal).chain(options).collect()
}

fn find_kinds(kind: &str) -> Option<&'static Kinds> {
    let is = |name: &&str| kind == *name || (name.ends_with('.') && kind.starts_with(*name));
    KINDS.iter().find(|kinds| kinds.names.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(file_system: &str, options: &str) -> Vec<String> {
        let machine = Machine {
            file_system: Some(file_system.to_owned()),
            mount_options: Some(options.to_owned()),
            ..Machine::default()
        };
        warnings(&machine, Path::new("/data"))
    }

    #[test]
    fn a_local_disk_as_it_is_mounted_by_default_says_nothing() {
        for local in ["ext4", "xfs", "btrfs", "f2fs", "zfs", "ubifs"] {
            assert_eq!(warned(local, "rw,relatime,async"), Vec::<String>::new(), "{local}");
        }
        assert_eq!(warnings(&Machine::default(), Path::new("/data")), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_local_disk_is_told_with_what_follows() {
        for (kind, seen) in [
            ("tmpfs", "in memory (tmpfs at /data)"),
            ("overlay", "a container's layers"),
            ("9p", "the host of this virtual machine"),
            ("nfs4", "those of the network"),
            ("fuse.sshfs", "on a network"),
            ("ecryptfs", "encrypted when it is written"),
            ("fuse.gocryptfs", "encrypting"),
            ("fuse.mergerfs", "a program"),
            ("fuseblk", "a program"),
            ("vfat", "without a journal"),
        ] {
            let [warning] = &warned(kind, "rw")[..] else { panic!("{kind}") };
            assert!(warning.contains(seen), "{warning}");
        }
    }

    #[test]
    fn a_missing_journal_is_told() {
        let machine = Machine { journal: Some(false), ..Machine::default() };
        let [warning] = &warnings(&machine, Path::new("/data"))[..] else { panic!() };
        assert!(warning.contains("at /data has no journal"), "{warning}");
        let machine = Machine { journal: Some(true), ..machine };
        assert_eq!(warnings(&machine, Path::new("/data")), Vec::<String>::new());
    }

    #[test]
    fn mounts_that_change_what_a_sync_means_are_told() {
        assert!(warned("ext4", "rw,nobarrier")[0].contains("mounted with nobarrier"));
        assert!(warned("ext4", "rw,barrier=0")[0].contains("mounted with barrier=0"));
        assert!(warned("ext4", "rw,sync")[0].contains("every write waits"));
        assert!(warned("ext4", "rw,data=journal")[0].contains("written twice"));
        assert_eq!(warned("vfat", "rw,sync").len(), 2);
    }
}
