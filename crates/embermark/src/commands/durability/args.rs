//! The options of `embermark durability`.

use std::path::PathBuf;

use clap::Args;
use embermark_durability::SHORT_WORKS;
use embermark_model::Configuration;

use crate::plan::parse_configuration;

/// The arguments of `embermark durability`.
#[derive(Args)]
pub struct DurabilityArgs {
    /// Engines to test: ids, embedded, servers [default: embedded, or those of --engine-library]
    ///
    /// An engine named by its id, or by --configuration, is also tested in tiers that embermark does not
    /// offer for it.
    #[arg(value_name = "ENGINE", conflicts_with = "resume")]
    pub(super) engines: Vec<String>,

    /// Add an engine of your own, a shared library (docs/engine-library.md); ID renames it; may be repeated
    #[arg(long, value_name = "[ID=]PATH", conflicts_with = "resume")]
    pub(super) engine_library: Vec<PathBuf>,

    /// Add an engine with other settings: NAME=ENGINE:SETTING=VALUE,…
    ///
    /// embermark assumes that it promises the tier that it is tested in. Without other engines it is the only
    /// one. ENGINE-defaults among the engines has an engine's own default settings.
    #[arg(long, value_name = "NAME=ENGINE:SETTING=VALUE,…", value_parser = parse_configuration,
          conflicts_with = "resume")]
    pub(super) configuration: Vec<(String, Configuration)>,

    /// Tiers [default: process,power]
    #[arg(short, long, value_delimiter = ',', value_name = "TIER,…", conflicts_with = "resume")]
    pub(super) tier: Vec<String>,

    /// Disk states after a power cut, for each engine and tier; 0: none [default: 300; servers: 60]
    ///
    /// In every fourth state the power is cut twice. A server starts and stops for each state: 60
    /// states take about two minutes, and a minute more for every two without an answer.
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub(super) states: Option<u32>,

    /// Short works to check in every state that a power cut can leave, in the tier power; 0: none
    ///
    /// After creating the table, 14 works have up to two operations, 25 have up to three.
    #[arg(long, value_name = "N", default_value_t = SHORT_WORKS, conflicts_with = "resume")]
    pub(super) short_works: u32,

    /// Kills for each engine and tier
    #[arg(long, value_name = "N", default_value_t = 100, conflicts_with = "resume")]
    pub(super) kills: u32,

    /// Clients that commit at the same time [default: 1; servers above the tier none: 4]
    ///
    /// Each client is judged by its own commits.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64),
          conflicts_with = "resume")]
    pub(super) clients: Option<u32>,

    /// Test engines whose licence forbids publishing what a test found; you accept the licence
    #[arg(long, value_delimiter = ',', value_name = "ENGINE,…", conflicts_with = "resume")]
    pub(super) accept_license: Vec<String>,

    /// File system of the databases in power cuts: ext4, xfs, btrfs, f2fs
    #[arg(long, value_name = "NAME", default_value = "ext4", conflicts_with = "resume")]
    pub(super) fs: String,

    /// Also cut the power of devices that skip every second flush, or lose an erase block around a write
    ///
    /// No tier promises anything on such devices.
    #[arg(long, conflicts_with = "resume")]
    pub(super) device_lies: bool,

    /// Spread the commits before a power cut over this time, in seconds
    ///
    /// This shows how much is lost in tiers that leave writing to the kernel, which writes after some
    /// seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, conflicts_with = "resume")]
    pub(super) over: u64,

    /// Also fill disks by commits, to the last block; needs root
    ///
    /// Reports what the engine does then, whether it continues when there is room again, and whether
    /// acknowledged commits are lost.
    #[arg(long, conflicts_with = "resume")]
    pub(super) full_disk: bool,

    /// Disks to fill for each engine and tier
    #[arg(long, value_name = "N", default_value_t = 3, requires = "full_disk",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) fills: u32,

    /// Size of a disk to fill, in MiB; a server gets 512 MiB more
    ///
    /// A third of the size is for the work.
    #[arg(long, value_name = "MIB", default_value_t = 96, requires = "full_disk",
          value_parser = clap::value_parser!(u32).range(32..=4096))]
    pub(super) disk_mib: u32,

    /// Put the databases of kills on an imitated storage, by name or file: sd-a1, FILE.toml
    /// [default: this machine's own disk]
    ///
    /// docs/storage.md lists the names. Commits take longer there, so more kills hit one. No power is cut
    /// then, because power cuts need a device that records every write. Needs root and FUSE.
    #[arg(long, value_name = "STORAGE", conflicts_with = "resume")]
    pub(super) storage: Option<String>,

    /// Seed of the work, and of the moments of kills and cuts
    #[arg(long, value_name = "N", default_value_t = 42, conflicts_with = "resume")]
    pub(super) seed: u64,

    /// Folder for the result, the journal and databases that broke a promise [default: results/DATE-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// Continue the interrupted run in this folder; finished experiments are not repeated
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(super) resume: Option<PathBuf>,
}
