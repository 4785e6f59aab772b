//! Tests whether settings keep a tier: by kills, and by power cuts if the tier promises to survive
//! them.

use std::path::PathBuf;
use std::{fs, io, thread};

use embermark_durability::{
    Experiment, Settings, Subject, TestError, WorkerProgram, enter_mount_namespace, test,
};
use embermark_engines::Engine;
use embermark_harness::{HarnessError, Interrupt};
use embermark_model::tuning_result::Kept;
use embermark_model::{Configuration, Durability};
use embermark_report::evidence::findings_text;

use super::super::durability::worker_args;

/// Tests that settings must survive before they are accepted.
#[derive(Clone, Copy)]
pub(super) struct Proof {
    pub kills: u32,
    /// Number of disk states after a power cut, for a long work.
    pub states: u32,
    /// Number of additional short works, of which every state is tested.
    pub short_works: u32,
}

/// Tests settings of one engine in one tier.
pub(super) struct TierTester<'a> {
    engine: &'static dyn Engine,
    tier: Durability,
    proof: Proof,
    out: PathBuf,
    interrupt: &'a Interrupt,
    /// Why the power cannot be cut here, if it cannot.
    no_cuts: Option<String>,
}

impl<'a> TierTester<'a> {
    pub(super) fn new(
        engine: &'static dyn Engine,
        tier: Durability,
        proof: Proof,
        out: &std::path::Path,
        interrupt: &'a Interrupt,
    ) -> Self {
        let none = || Some("none were requested (--states 0)".to_owned());
        let no_devices = || thread::spawn(enter_mount_namespace).join().ok().and_then(Result::err);
        let no_cuts = match proof.states {
            0 => none(),
            _ => no_devices().map(|error| error.to_string()),
        };
        Self { engine, tier, proof, out: out.to_owned(), interrupt, no_cuts }
    }

    /// Tests whether a configuration keeps the tier.
    pub(super) fn test(&self, own: &Configuration) -> Result<Kept, HarnessError> {
        let settings = self.settings();
        let kept = self.run_experiments(own, &settings);
        let work = settings.folder;
        match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(HarnessError::File { path: work, doing: "remove the folder", source: error })
            }
            _ => kept,
        }
    }

    fn run_experiments(
        &self,
        own: &Configuration,
        settings: &Settings,
    ) -> Result<Kept, HarnessError> {
        let by_manual = |why: String| Ok(Kept::ByManual { why });
        if self.tier == Durability::None {
            return by_manual("the tier none promises nothing".to_owned());
        }
        let cuts = Experiment::PowerCut.is_survived_by(self.tier);
        let mut tried = [0, 0];
        for (at, experiment) in [Experiment::Kill, Experiment::PowerCut].into_iter().enumerate() {
            let asked =
                if experiment == Experiment::Kill { self.proof.kills } else { self.proof.states };
            let is_cut = experiment == Experiment::PowerCut;
            if asked == 0 || (is_cut && (!cuts || self.no_cuts.is_some())) {
                continue;
            }
            let subject = Subject { engine: self.engine, configuration: Some(("tuned", own)) };
            let stop = || self.interrupt.is_set();
            match test(experiment, subject, self.tier, settings, &stop, &|_| ()) {
                Ok(tested) if tested.violations() > 0 => {
                    return Ok(Kept::Broken {
                        lost: format!("{}: {}", experiment.name(), findings_text(&tested)),
                    });
                }
                Ok(tested) => tried[at] = tested.tried,
                Err(TestError::Interrupted) => {
                    return Err(HarnessError::Interrupted { result: None });
                }
                // It fails even without a kill or a power cut.
                Err(error @ TestError::Engine { .. }) => {
                    return Ok(Kept::Broken { lost: error.to_string() });
                }
                Err(error) => return by_manual(error.to_string()),
            }
        }
        let [kills, states] = tried;
        match &self.no_cuts {
            Some(why) if cuts => by_manual(format!("the power was not cut: {why}")),
            _ if kills == 0 => by_manual("nothing was killed (--kills 0)".to_owned()),
            _ => Ok(Kept::Shown { kills, states }),
        }
    }

    fn settings(&self) -> Settings {
        let program = std::env::current_exe().unwrap_or_default();
        let args = worker_args(self.engine.info().id);
        let settings = Settings::new(&self.out, WorkerProgram { program, args, library: None });
        Settings {
            // Removed with the work folder. `embermark durability` keeps its findings.
            violations: settings.folder.join("violations"),
            states: self.proof.states,
            short_works: self.proof.short_works,
            kills: self.proof.kills,
            ..settings
        }
    }
}
