//! Opens a hybrid and the thread that has its mirror.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use embermark_contract::Result;
use embermark_contract::kv::KvStore;

use crate::catalog::Catalog;
use crate::client::{Hybrid, MirrorThreadGuard};
use crate::shared::Shared;
use crate::{Options, cold, mirror_thread};

impl Hybrid {
    /// Makes a hybrid of an open front. The mirror is opened when it is first needed.
    ///
    /// # Errors
    /// The front's error.
    pub fn open(mut front: Box<dyn KvStore>, options: Options) -> Result<Self> {
        let catalog = Catalog::open(&mut *front)?;
        let place = Arc::new(OnceLock::new());
        let shared = Arc::new(Shared::new(options, mirror_thread::start(&place)?));
        // It is empty: nothing else has a reference to it.
        let _ = place.set(Arc::downgrade(&shared));
        let archived = catalog.cold.archived_tables(&mut *front)?;
        cold::check_files(&shared, &archived)?;
        for (id, of_table) in archived {
            shared.cold.update(id, |known| *known = of_table);
        }
        let stamp = catalog.stamp(&mut *front)?;
        let ends = catalog.record_range(&mut *front)?;
        let next = stamp.map_or(1, |stamp| stamp.next);
        let next = ends.map_or(next, |(_, newest)| next.max(newest + 1));
        shared.next.store(next, Ordering::Release);
        shared.oldest.store(ends.map_or(next, |(oldest, _)| oldest), Ordering::Release);
        shared.committed.store(next - 1, Ordering::Release);
        // A mirror that was closed properly would miss changes that are not recorded.
        shared.recording.store(stamp.is_some(), Ordering::Release);
        let thread_guard = MirrorThreadGuard(Arc::clone(&shared));
        let mut hybrid = Self::new(front, catalog, shared);
        hybrid.thread_guard = Some(thread_guard);
        hybrid.start_background_refresh()?;
        Ok(hybrid)
    }
}
