//! Imitated storages: what they model, their parameters, and how well they kept their times.

use embermark_model::card::Spread;
use embermark_model::result::{Cell, ResultFile, StoragePath, StorageTimes};
use embermark_model::storage::{Flash, Platters, Storage, Transfer};
use embermark_model::{CellId, Status, StorageName};

use crate::note::{Note, note};
use crate::{format, text};

/// Largest number of cells that a warning names.
const MOST: usize = 3;

/// When a request to an imitated storage counts as late.
pub const LATE: &str = "late by more than 50 µs and more than 5 % of their time";

/// Labels imitated storage: `imitated: a model of sd-a1 with its likely values, not a measurement
/// of a device; their sources: docs/storage.md`.
pub fn imitated(name: &str) -> String {
    format!(
        "imitated: a model of {name} with its likely values, not a measurement of a device; their sources: \
         docs/storage.md"
    )
}

/// Warns how much longer commits may take on a imitated storage than on the medium. `None` unless
/// the path to it costs a considerable share of a durable write.
pub fn near_path(storage: &Storage, path: &StoragePath) -> Option<String> {
    let share = path.share(storage).filter(|share| *share > StoragePath::MOST_SHARE)?;
    let path = path.write_ns.saturating_add(path.flush_ns);
    let medium = storage.durable_write_ns()?;
    Some(format!(
        "commits on {} may take up to {:.1} times as long as on the medium: of a write in a row and \
         its flush, which take {} there, the path to an imitated storage costs {}",
        storage.name,
        1.0 + share,
        format::duration(medium as f64),
        format::duration(path as f64)
    ))
}

/// Names every storage that was imitated for a trial of a result. `None` if none was.
pub(crate) fn all_imitated(file: &ResultFile) -> Option<String> {
    let names: Vec<String> = used(file).map(|storage| storage.name.to_string()).collect();
    (!names.is_empty()).then(|| imitated(&names.join(", ")))
}

/// Warns of storages that are so fast that the path to them matters.
pub(super) fn fast(file: &ResultFile) -> Vec<Note> {
    let path = file.manifest.storage_path.iter();
    let says = path.flat_map(|path| used(file).filter_map(|storage| near_path(storage, path)));
    says.map(|says| note("", says)).collect()
}

/// Iterates over the storages of the plan that a trial of a cell used.
fn used(file: &ResultFile) -> impl Iterator<Item = &Storage> {
    file.plan.storages.iter().flatten().filter(|storage| {
        let own = file.cells.iter().filter(|cell| cell.id.storage == Some(storage.name));
        own.flat_map(|cell| &cell.trials).next().is_some()
    })
}

/// Describes each storage: what it is, its parameters, and how well it kept its times.
pub(super) fn notes(file: &ResultFile) -> Vec<Note> {
    let mut notes = Vec::new();
    for storage in used(file) {
        let name = storage.name.to_string();
        let about = Some(text::plain(&storage.about)).filter(|about| !about.is_empty());
        let about = about.map(|about| about + "; ").unwrap_or_default();
        notes.push(note(&name, about + &imitated(&name)));
        notes.push(note(&name, parameters(storage)));
        notes.extend(kept(file, storage.name).map(|says| note(&name, says)));
    }
    if let Some(path) = file.manifest.storage_path {
        let [read, write, flush] =
            [path.read_ns, path.write_ns, path.flush_ns].map(|ns| format::duration(ns as f64));
        let says = format!(
            "the path to an imitated storage takes {read} for a read of 4 KiB, {write} for a write and {flush} for a \
             flush on this machine; it is part of the times above, and no request is faster"
        );
        notes.push(note("", says));
    }
    notes
}

/// Describes how well a storage kept its times: `12 of 4,312 requests were late by more than 50 µs
/// and more than 5 % of their time; …`.
fn kept(file: &ResultFile, name: StorageName) -> Option<String> {
    let own = file.cells.iter().filter(|cell| cell.id.storage == Some(name));
    let mut all = StorageTimes::default();
    for times in own.flat_map(|cell| &cell.trials).filter_map(|trial| trial.storage_times) {
        all.requests = all.requests.saturating_add(times.requests);
        all.late = all.late.saturating_add(times.late);
        all.time_ns = all.time_ns.saturating_add(times.time_ns);
        all.late_ns = all.late_ns.saturating_add(times.late_ns);
        all.latest_ns = all.latest_ns.max(times.latest_ns);
    }
    let mean = |sum: u64| format::duration(sum as f64 / all.requests.max(1) as f64);
    (all.requests > 0).then(|| {
        format!(
            "{} of {} were {LATE}; all took {} on average, {} more than the model says, and at \
             most {} more",
            format::count(all.late),
            format::counted(all.requests, "request"),
            mean(all.time_ns.saturating_add(all.late_ns)),
            mean(all.late_ns),
            format::duration(all.latest_ns as f64)
        )
    })
}

/// Warns of cells whose storage could not keep its times, with the figures and what to do.
pub(super) fn late(file: &ResultFile) -> Option<Note> {
    let worst = |cell: &'_ Cell| {
        let times = cell.trials.iter().filter_map(|trial| trial.storage_times);
        let worst = times.max_by(|a, b| a.late_share().total_cmp(&b.late_share()));
        worst.filter(StorageTimes::is_broken)
    };
    let mut late: Vec<(&CellId, StorageTimes)> =
        file.cells.iter().filter_map(|cell| Some((&cell.id, worst(cell)?))).collect();
    late.sort_by(|(_, a), (_, b)| b.late_share().total_cmp(&a.late_share()));
    let each = late.iter().map(|(id, times)| {
        format!(
            "{} ({} of {}, {} late on average)",
            text::plain(&id.to_string()),
            format::percent((times.late_share() * 100.0).round() / 100.0),
            format::counted(times.requests, "request"),
            format::duration(times.late_ns as f64 / times.requests.max(1) as f64),
        )
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| {
        let says = format!(
            "storages answered late: close other programs, or keep fewer processors busy: {}",
            text::first(&each, MOST)
        );
        note("", says)
    })
}

/// Whether a cell did not run because its storage was unavailable.
pub(crate) fn lacking(id: &CellId, status: Status, reason: &str) -> bool {
    let of = |name: StorageName| reason.starts_with(&format!("storage {name}: "));
    status == Status::Unavailable && id.storage.is_some_and(of)
}

/// Describes all parameters of a storage.
pub(crate) fn parameters(storage: &Storage) -> String {
    let Storage {
        read,
        write,
        flush_us,
        cache_bytes,
        cached_write_us,
        queue_depth,
        sector_bytes,
        flash,
        disk,
        ..
    } = storage;
    let bytes = |bytes: u64| format::bytes(bytes as f64);
    let cache = (*cache_bytes > 0).then(|| {
        format!("cache {}, a write into it {}", bytes(*cache_bytes), time(*cached_write_us))
    });
    let of_flash = |Flash { card, erase_us }: &Flash| {
        format!(
            "flash {} in pages of {} and blocks of {}, erase {}",
            bytes(card.capacity_bytes),
            bytes(card.page_bytes),
            bytes(card.erase_block_bytes),
            time(*erase_us)
        )
    };
    let of_disk = |disk: &Platters| {
        format!(
            "{} turns a minute, seek {} to the next track and {} across {}",
            format::count(disk.turns_per_minute.into()),
            time(disk.track_seek_us),
            time(disk.full_seek_us),
            bytes(disk.capacity_bytes)
        )
    };
    let parts = [
        Some(format!("read {}", transfer(read))),
        Some(format!("write {}", transfer(write))),
        Some(format!("flush {}", time(*flush_us))),
        cache,
        Some(format!("queue depth {queue_depth}")),
        Some(format!("sectors of {sector_bytes} bytes")),
        flash.as_ref().map(of_flash),
        disk.as_ref().map(of_disk),
    ];
    text::joined(parts.into_iter().flatten(), "; ")
}

fn transfer(Transfer { random_us, sequential_us, kb_per_s }: &Transfer) -> String {
    let rate = |kb: u32| format!("{}/s", format::bytes(f64::from(kb) * 1e3));
    format!(
        "{}, behind the last one {}, {}",
        time(*random_us),
        time(*sequential_us),
        spread(*kb_per_s, rate)
    )
}

/// Formats a time with its range: `430 µs (300 to 560 µs)`.
fn time(us: Spread) -> String {
    spread(us, |us| format::duration(f64::from(us) * 1e3))
}

fn spread(Spread { low, typical, high }: Spread, show: impl Fn(u32) -> String) -> String {
    match low == high {
        true => show(typical),
        false => format!("{} ({} to {})", show(typical), show(low), show(high)),
    }
}
