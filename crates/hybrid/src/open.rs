//! Opens a hybrid and the thread that has its mirror.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use embermark_contract::Result;
use embermark_contract::kv::KvStore;

use crate::books::Books;
use crate::client::{First, Hybrid};
use crate::shared::Shared;
use crate::{Options, cold, mirror_thread};

impl Hybrid {
    /// Makes a hybrid of an open front. The mirror is opened when it is first needed.
    ///
    /// # Errors
    /// The front's error.
    pub fn open(mut front: Box<dyn KvStore>, options: Options) -> Result<Self> {
        let books = Books::open(&mut *front)?;
        let place = Arc::new(OnceLock::new());
        let shared = Arc::new(Shared::new(options, mirror_thread::start(&place)?));
        // It is empty: nothing else has a reference to it.
        let _ = place.set(Arc::downgrade(&shared));
        let kept = books.cold.all(&mut *front)?;
        cold::check(&shared, &kept)?;
        for (id, of_table) in kept {
            shared.cold.change(id, |known| *known = of_table);
        }
        let stamp = books.stamp(&mut *front)?;
        let ends = books.ends(&mut *front)?;
        let next = stamp.map_or(1, |stamp| stamp.next);
        let next = ends.map_or(next, |(_, newest)| next.max(newest + 1));
        shared.next.store(next, Ordering::Release);
        shared.oldest.store(ends.map_or(next, |(oldest, _)| oldest), Ordering::Release);
        shared.committed.store(next - 1, Ordering::Release);
        // A mirror that was closed properly would miss changes that are not recorded.
        shared.noting.store(stamp.is_some(), Ordering::Release);
        let first = First(Arc::clone(&shared));
        let mut hybrid = Self::over(front, books, shared);
        hybrid.first = Some(first);
        hybrid.keep_fresh()?;
        Ok(hybrid)
    }
}
