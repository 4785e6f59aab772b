//! Short works: every state of each.

use std::collections::HashMap;

use super::*;
use crate::outcome::Exhaustive;
use crate::work::short::{Named, WORKS, commits};

/// Does one short work after another on a device with that content, and examines all of their
/// states.
pub(super) fn test(
    test: &Test<'_>,
    content: &Image,
    gathered: &Mutex<Gathered<Image>>,
    progress: &(dyn Fn() + Sync),
) -> Result<(), TestError> {
    let mut exhaustive = Exhaustive::default();
    for place in 0..WORKS.len().min(test.settings.short_works as usize) {
        test.go_on()?;
        let test = &Test { short: Some(place), ..*test };
        let folder = test.settings.folder.join("record");
        let recording = &record(test, &folder, content.clone(), commits(place).count() as u64)?;
        let covered = test.plan().covered();
        let begun = recording.acknowledged.iter().find(|known| known.commit == covered);
        let states = recording.log.every_state(begun.map_or(0, |known| known.at));
        let tries = Tries { test, recording, gathered };
        let (name, known, opened) = (Named(place), Mutex::default(), AtomicU32::new(0));
        let work = Short { tries, name, known, opened };
        by_all(test, &states, &|folder, state, _| {
            work.make(folder, state)?;
            progress();
            Ok(())
        })?;
        exhaustive.works += 1;
        exhaustive.states += states.len() as u32;
        exhaustive.opened += work.opened.into_inner();
    }
    let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
    gathered.exhaustive = Some(exhaustive).filter(|exhaustive| exhaustive.works > 0);
    Ok(())
}

/// Digest of a database's files, and the last commit that had been acknowledged.
type Left = (u64, u64);

/// The states of one short work, and their results.
struct Short<'a> {
    tries: Tries<'a>,
    name: Named,
    /// The results of each that was opened.
    known: Mutex<HashMap<Left, Looked>>,
    opened: AtomicU32,
}

impl Short<'_> {
    /// Examines a state. Opens it if its file system gives database files that have not been seen
    /// yet.
    fn make(&self, folder: &Path, state: &State) -> Result<(), TestError> {
        let Tries { test, recording, .. } = self.tries;
        let promised = recording.promised(state.cut.at);
        let device = match Device::mount(folder, state.image.clone(), test.settings.file_system) {
            Ok(device) => device,
            Err(DeviceError::NotMounted { .. }) => {
                self.tries.gathered().not_mounted += 1;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        // What cannot be read is left to the engine.
        let files = files::digest(&device.at.join(DATABASE));
        let left = files.ok().map(|files| (files, promised[0].acknowledged));
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = left.and_then(|left| known().get(&left).cloned());
        let looked = match seen {
            Some(looked) => looked,
            None => {
                self.opened.fetch_add(1, Ordering::Relaxed);
                let (looked, _) = work_on(test, &device, &promised, AFTERWARDS)?;
                // Times to open a database are reported for the long work.
                let looked = Looked { open_ns: None, ..looked };
                known().extend(left.map(|left| (left, looked.clone())));
                looked
            }
        };
        device.unmount()?;
        let of = || format!("of the work '{}' {}", self.name, state.cut);
        self.tries.add(of, &promised, looked, None, state);
        Ok(())
    }
}
