//! Tests whether settings keep a tier: by kills, and by power cuts if the tier promises to survive
//! them.

use std::path::Path;

use embermark_durability::{Experiment, Settings, Subject, TestError, WorkerProgram, test};
use embermark_engines::Engine;
use embermark_harness::{HarnessError, Interrupt, remove_folder};
use embermark_model::tuning_result::Kept;
use embermark_model::{Configuration, Durability};
use embermark_report::evidence::findings_text;

use super::super::durability::{no_devices, worker_args};
use super::TuneArgs;

/// Tests settings of one engine in one tier.
pub(super) struct TierTester<'a> {
    engine: &'static dyn Engine,
    tier: Durability,
    settings: Settings,
    interrupt: &'a Interrupt,
    /// Why the power cannot be cut here, if it cannot.
    no_cuts: Option<String>,
}

impl<'a> TierTester<'a> {
    pub(super) fn new(
        engine: &'static dyn Engine,
        tier: Durability,
        args: &TuneArgs,
        out: &Path,
        interrupt: &'a Interrupt,
    ) -> Self {
        let program = std::env::current_exe().unwrap_or_default();
        let worker_args = worker_args(engine.info().id);
        let worker = WorkerProgram { program, args: worker_args, library: None };
        let settings = Settings::new(out, worker);
        let settings = Settings {
            // Removed with the work folder. `embermark durability` keeps its findings.
            violations: settings.folder.join("violations"),
            states: args.states,
            short_works: args.short_works,
            kills: args.kills,
            ..settings
        };
        let no_cuts = match args.states {
            0 => Some("none were requested (--states 0)".to_owned()),
            _ => no_devices(),
        };
        Self { engine, tier, settings, interrupt, no_cuts }
    }

    /// Tests whether a configuration keeps the tier.
    pub(super) fn test(&self, own: &Configuration) -> Result<Kept, HarnessError> {
        let kept = self.run_experiments(own);
        let work = &self.settings.folder;
        remove_folder(work)
            .map_err(|error| HarnessError::file(work, "remove the folder", error))?;
        kept
    }

    fn run_experiments(&self, own: &Configuration) -> Result<Kept, HarnessError> {
        let by_manual = |why: String| Ok(Kept::ByManual { why });
        if self.tier == Durability::None {
            return by_manual("the tier none promises nothing".to_owned());
        }
        let cuts = Experiment::PowerCut.is_survived_by(self.tier);
        let mut tried = [0, 0];
        let experiments = [
            (Experiment::Kill, self.settings.kills > 0),
            (Experiment::PowerCut, cuts && self.no_cuts.is_none()),
        ];
        for ((experiment, is_tried), tried) in experiments.into_iter().zip(&mut tried) {
            if !is_tried {
                continue;
            }
            let subject = Subject { engine: self.engine, configuration: Some(("tuned", own)) };
            let stop = || self.interrupt.is_set();
            match test(experiment, subject, self.tier, &self.settings, &stop, &|_| ()) {
                Ok(tested) if tested.violations() > 0 => {
                    return Ok(Kept::Broken {
                        lost: format!("{}: {}", experiment.name(), findings_text(&tested)),
                    });
                }
                Ok(tested) => *tried = tested.tried,
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
}
