//! The options of `embermark durability`.

use std::path::PathBuf;

use clap::Args;
use embermark_durability::SHORT_WORKS;
use embermark_model::Configuration;

use crate::plan::parsed;

/// The arguments of `embermark durability`.
#[derive(Args)]
pub struct DurabilityArgs {
    /// Engines to try: ids, embedded or servers. One that is named by its id is tried in tiers, too, that
    /// it is not offered in [default: embedded, or those of --engine-library]
    #[arg(value_name = "ENGINE", conflicts_with = "resume")]
    pub(super) engines: Vec<String>,

    /// A shared library that is an engine (docs/engine-library.md). Once for each; ID names its engine anew
    #[arg(long, value_name = "[ID=]PATH", conflicts_with = "resume")]
    pub(super) engine_library: Vec<PathBuf>,

    /// An engine with other settings: NAME=ENGINE:setting=value,… . It promises the tier that it is tried
    /// in, and is tried alone where no engine is named. ENGINE-defaults among the engines has an engine's
    /// own defaults
    #[arg(
        long,
        value_name = "NAME=ENGINE:SETTING=VALUE,…",
        value_parser = parsed,
        conflicts_with = "resume"
    )]
    pub(super) configuration: Vec<(String, Configuration)>,

    /// Tiers [default: process,power]
    #[arg(short, long, value_delimiter = ',', value_name = "TIER,…", conflicts_with = "resume")]
    pub(super) tier: Vec<String>,

    /// States of a disk after a power cut to look at, for each engine and tier; every fourth is cut
    /// a second time. 0: none [default: 300; of a server, which starts and stops for each, 60: about
    /// two minutes, and a minute for each two that it does not answer]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub(super) states: Option<u32>,

    /// Short works of which every state is looked at, beside these, where the tier promises to survive a
    /// power cut: 14 have up to two operations after the making of the table, 25 up to three. 0: none
    #[arg(long, value_name = "N", default_value_t = SHORT_WORKS, conflicts_with = "resume")]
    pub(super) short_works: u32,

    /// Kills, for each engine and tier
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "resume")]
    pub(super) kills: u32,

    /// Clients that commit at the same time, each judged by its own commits [default: 1; of a
    /// server in a tier above none 4]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=64),
        conflicts_with = "resume"
    )]
    pub(super) clients: Option<u32>,

    /// Engines whose licence forbids publishing what a test found, and which you accept: they are
    /// tried, and what is found is for you alone
    #[arg(
        long = "accept-license",
        value_delimiter = ',',
        value_name = "ENGINE,…",
        conflicts_with = "resume"
    )]
    pub(super) accept_license: Vec<String>,

    /// File system under a database whose power is cut: ext4, xfs, btrfs, f2fs
    #[arg(long, value_name = "NAME", default_value = "ext4", conflicts_with = "resume")]
    pub(super) fs: String,

    /// Cuts the power of a device, too, that does every second flush alone, or loses an erase block
    /// around a write. No tier promises anything there
    #[arg(long, conflicts_with = "resume")]
    pub(super) device_lies: bool,

    /// Stretches the commits before a power cut over so many seconds: for the window of loss of tiers that
    /// leave writing to the kernel, which takes its time
    #[arg(long, value_name = "SECONDS", default_value_t = 0, conflicts_with = "resume")]
    pub(super) over: u64,

    /// Fills disks, too: a file system of a fixed size, by commits, to the last block. What the engine does
    /// then, whether it goes on when there is room, and whether anything acknowledged is lost. As root
    #[arg(long, conflicts_with = "resume")]
    pub(super) full_disk: bool,

    /// Disks to fill, for each engine and tier
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..),
        requires = "full_disk"
    )]
    pub(super) fills: u32,

    /// Size of a disk that is filled, in MiB, a third of it for the work: a server has 512 more, to start with
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 96,
        value_parser = clap::value_parser!(u32).range(32..=4096),
        requires = "full_disk"
    )]
    pub(super) disk_mib: u32,

    /// Put the databases whose processes are killed on an imitated storage, by name or file: sd-a1, FILE.toml
    /// [default: this machine's own disk]
    ///
    /// docs/storage.md lists the names. A slow commit is under way for longer, so more kills hit one. No power is cut
    /// then: that takes a device that records every write, and how long a write takes changes nothing that is
    /// promised. Needs root and FUSE.
    #[arg(long, value_name = "STORAGE", conflicts_with = "resume")]
    pub(super) storage: Option<String>,

    /// Seed of the work, and of what is cut and killed when
    #[arg(long, value_name = "N", default_value_t = 42, conflicts_with = "resume")]
    pub(super) seed: u64,

    /// Folder for the result, the journal and what broke a promise [default: results/DATE-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// Goes on with a run that was cut off, in its folder; an experiment that ended is not repeated
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(super) resume: Option<PathBuf>,
}
