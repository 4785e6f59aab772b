//! Short works: every state of each.

use std::collections::HashMap;

use super::*;
use crate::outcome::Exhaustive;
use crate::work::short::{ShortWorkName, WORKS, commits};

/// Does one short work after another on a device with that content, and examines all of their
/// states.
pub(super) fn test(
    test: &Test<'_>,
    content: &Image,
    results: &Mutex<TryResults<Image>>,
    progress: &(dyn Fn() + Sync),
) -> Result<()> {
    let mut exhaustive = Exhaustive::default();
    for index in 0..WORKS.len().min(test.settings.short_works as usize) {
        test.check_interrupted()?;
        let test = &Test { short: Some(index), ..*test };
        let folder = test.settings.folder.join("record");
        let recording = &record(test, &folder, content.clone(), commits(index).count() as u64)?;
        let covered = test.plan().last_covered_commit();
        let begun = recording.acknowledged.iter().find(|known| known.commit == covered);
        let states = recording.log.every_state(begun.map_or(0, |known| known.at));
        let inspector = StateInspector { test, recording, results };
        let (name, known, opened) = (ShortWorkName(index), Mutex::default(), AtomicU32::new(0));
        let work = ShortWork { inspector, name, known, opened };
        inspect_in_parallel(test, &states, &|folder, state, _| {
            work.inspect_state(folder, state)?;
            progress();
            Ok(())
        })?;
        exhaustive.works += 1;
        exhaustive.states += states.len() as u32;
        exhaustive.opened += work.opened.into_inner();
    }
    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
    results.tested.exhaustive = Some(exhaustive).filter(|exhaustive| exhaustive.works > 0);
    Ok(())
}

/// Digest of a database's files, and the last commit that had been acknowledged.
type FilesAndCommit = (u64, u64);

/// The states of one short work, and their results.
struct ShortWork<'a> {
    inspector: StateInspector<'a>,
    name: ShortWorkName,
    /// The results of each that was opened.
    known: Mutex<HashMap<FilesAndCommit, Inspection>>,
    opened: AtomicU32,
}

impl ShortWork<'_> {
    /// Examines a state. Opens it if its file system gives database files that have not been seen
    /// yet.
    fn inspect_state(&self, folder: &Path, state: &State) -> Result<()> {
        let StateInspector { test, recording, .. } = self.inspector;
        let promised = recording.promised(state.cut.at);
        let mounted = self.inspector.mount(folder, state.image.clone())?;
        let Some(device) = mounted else { return Ok(()) };
        // What cannot be read is left to the engine.
        let files = files::digest(&device.at.join(DATABASE));
        let left = files.ok().map(|files| (files, promised[0].acknowledged));
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = left.and_then(|left| known().get(&left).cloned());
        let inspection = match seen {
            Some(inspection) => inspection,
            None => {
                self.opened.fetch_add(1, Ordering::Relaxed);
                let (inspection, _) =
                    inspect_and_continue(test, &device, &promised, COMMITS_AFTER_CUT)?;
                // Times to open a database are reported for the long work.
                let inspection = Inspection { open_ns: None, ..inspection };
                known().extend(left.map(|left| (left, inspection.clone())));
                inspection
            }
        };
        device.unmount()?;
        let of = || format!("of the work '{}' {}", self.name, state.cut);
        let torn = state.cut.tears_a_block();
        self.inspector.add(of, torn, &promised, inspection, None, &state.image);
        Ok(())
    }
}
