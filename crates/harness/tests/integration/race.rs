//! Runs with a time limit.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use embermark_harness::progress::Progress;
use embermark_harness::{HarnessError, Interrupt, RunOptions};
use embermark_model::plan::Plan;
use embermark_model::result::ResultFile;
use embermark_model::{Scale, Status};

use crate::cells::plan;
use crate::trials::{Out, run, until};

crate::tests!(
    a_time_that_is_too_short_leaves_cells_out_and_says_how_many,
    what_the_time_left_uncounted_is_told_by_what_was_counted,
    every_cell_is_measured_once_and_then_those_that_are_not_told_apart,
    an_interrupt_after_the_first_pass_keeps_a_figure_of_every_cell,
    a_cpu_that_is_slowed_down_again_and_again_is_one_warning,
    a_run_that_falls_far_behind_the_best_is_stopped_and_says_what_was_done,
    a_first_trial_is_stopped_when_its_share_of_the_time_is_over,
);

fn within(lasts_ms: u64) -> Plan {
    let scales = [10, 100].map(Scale::Rows).to_vec();
    Plan { scales, lasts_ms: Some(lasts_ms), ..plan(&["good", "chatty"]) }
}

fn trials(result: &ResultFile) -> Vec<usize> {
    result.cells.iter().map(|cell| cell.trials.len()).collect()
}

fn a_time_that_is_too_short_leaves_cells_out_and_says_how_many() {
    let result = run(&within(1), &Out::new().options()).unwrap();
    for cell in &result.cells {
        assert_eq!(cell.status, Status::NotRun);
        assert!(
            cell.reason.as_deref().is_some_and(|why| why.contains("--for")),
            "{:?}",
            cell.reason
        );
    }
    let warning = result.manifest.warnings.iter().find(|warning| warning.contains("--for"));
    let says = "4 of 4 had none, of squares 10 process single, squares 100 process single; give";
    assert!(warning.is_some_and(|warning| warning.contains(says)), "{warning:?}");
    assert!(result.manifest.finished.is_some());
}

fn what_the_time_left_uncounted_is_told_by_what_was_counted() {
    let cards = vec![embermark_flash::built_in("sd-32gb").unwrap()];
    let out = Out::new();
    let options = RunOptions { count: true, ..out.options() };
    let manifest = run(&Plan { cards, ..within(1) }, &options).unwrap().manifest;
    let says = "the time (--for) was over before every cell was";
    let (counted, modelled) = (manifest.not_counted.unwrap(), manifest.not_modelled.unwrap());
    assert!(counted.contains(&format!("{says} counted: 0 of 4 were")), "{counted}");
    // Where nothing can be recorded, that is the reason.
    let late = modelled == format!("{says} modelled: 0 of 4 were");
    assert!(late || modelled.starts_with("no card was modelled: "), "{modelled}");
}

fn every_cell_is_measured_once_and_then_those_that_are_not_told_apart() {
    // Both are the same engine and cannot be told apart: trials continue until the time is over or
    // both are known well. On a busy machine the time may be over before.
    let mut lasts_ms = 4_000;
    let result = until(|| {
        let result = run(&within(lasts_ms), &Out::new().options()).unwrap();
        lasts_ms *= 2;
        let trials = trials(&result);
        match trials.iter().all(|count| *count >= 1) && trials.iter().sum::<usize>() > 4 {
            true => Ok(result),
            false => Err(format!("{trials:?}")),
        }
    });
    for cell in &result.cells {
        let indices: Vec<u32> = cell.trials.iter().map(|trial| trial.index).collect();
        assert_eq!(indices, (0..indices.len() as u32).collect::<Vec<_>>(), "{}", cell.id);
    }
}

fn an_interrupt_after_the_first_pass_keeps_a_figure_of_every_cell() {
    /// Interrupts once every cell has had a trial.
    struct AfterTheFirst(Interrupt);
    impl Progress for AfterTheFirst {
        fn so_far(&mut self, result: &ResultFile) {
            assert!(result.cells.iter().all(|cell| cell.status == Status::Ok));
            self.0.set();
        }
    }
    let out = Out::new();
    let options = out.options();
    let mut progress = AfterTheFirst(options.interrupt.clone());
    let ended = embermark_harness::run(&within(600_000), &options, &mut progress);
    let Err(HarnessError::Interrupted { result: Some(result) }) = ended else {
        panic!("it was interrupted")
    };
    assert_eq!(trials(&result), [1; 4]);
}

fn a_cpu_that_is_slowed_down_again_and_again_is_one_warning() {
    /// Counts more throttling at the end of each trial, and interrupts after the first pass.
    struct Hot {
        counter: PathBuf,
        trials: u32,
        interrupt: Interrupt,
    }
    impl Hot {
        fn count(&self) {
            fs::write(&self.counter, format!("{}\n", self.trials * self.trials)).unwrap();
        }
    }
    impl Progress for Hot {
        fn trial_ended(&mut self, _: Status, _: Option<&str>, _: Duration) {
            self.trials += 1;
            self.count();
        }

        fn so_far(&mut self, _: &ResultFile) {
            self.interrupt.set();
        }
    }
    let (out, root) = (Out::new(), tempfile::tempdir().unwrap());
    let cpu = root.path().join("sys/devices/system/cpu/cpu0/thermal_throttle");
    fs::create_dir_all(&cpu).unwrap();
    let mut options = out.options();
    options.energy.root = root.path().to_owned();
    let (counter, interrupt) = (cpu.join("core_throttle_count"), options.interrupt.clone());
    let mut progress = Hot { counter, trials: 0, interrupt };
    progress.count();
    let ended = embermark_harness::run(&within(600_000), &options, &mut progress);
    let Err(HarnessError::Interrupted { result: Some(result) }) = ended else {
        panic!("it was interrupted")
    };
    let slowed = result.manifest.warnings.iter().filter(|warning| warning.contains("throttled"));
    let slowed: Vec<_> = slowed.collect();
    assert!(matches!(slowed[..], [one] if one.contains("throttled 1 time")), "{slowed:?}");
}

fn a_run_that_falls_far_behind_the_best_is_stopped_and_says_what_was_done() {
    /// Interrupts after the sixth trial.
    struct Six(u32, Interrupt);
    impl Progress for Six {
        fn trial_ended(&mut self, _: Status, _: Option<&str>, _: Duration) {
            self.0 += 1;
            if self.0 == 6 {
                self.1.set();
            }
        }
    }
    // Each read of `slow` takes 5 ms, and `good` has done all of them long before.
    let plan = Plan {
        lasts_ms: Some(600_000),
        phases: Some(vec!["load".to_owned(), "read".to_owned()]),
        ..plan(&["good", "slow"])
    };
    let out = Out::new();
    let options = out.options();
    let mut progress = Six(0, options.interrupt.clone());
    let ended = embermark_harness::run(&plan, &options, &mut progress);
    let Err(HarnessError::Interrupted { result: Some(result) }) = ended else {
        panic!("it was interrupted")
    };
    let cell = |engine: &str| result.cells.iter().find(|cell| cell.id.engine == engine).unwrap();
    let reads = |engine: &str| {
        let trials = cell(engine).trials.iter().flat_map(|trial| &trial.phases);
        trials.filter(|phase| phase.phase == "read").cloned().collect::<Vec<_>>()
    };
    assert!(reads("good").iter().all(|phase| phase.status == Status::Ok));
    // The engine that runs first has nothing to be compared with.
    let first = &result.cells.iter().min_by_key(|cell| cell.trials[0].order).unwrap().id.engine;
    if first == "good" {
        let stopped = reads("slow");
        assert_eq!(stopped[0].status, Status::Capped);
        let run = &stopped[0].runs[0];
        assert!(run.capped && run.ops > 0 && run.ops < stopped[0].ops, "{run:?}");
    }
}

fn a_first_trial_is_stopped_when_its_share_of_the_time_is_over() {
    // Three runs of 2,000 reads of 5 ms take 30 s, and nothing is known when the only trial begins.
    let phases = ["load", "read"].map(str::to_owned).to_vec();
    let scales = vec![Scale::Rows(2_000)];
    let plan = Plan { scales, lasts_ms: Some(4_000), phases: Some(phases), ..plan(&["slow"]) };
    let result = run(&plan, &Out::new().options()).unwrap();
    // On a busy machine the time may be over before the first trial.
    let Some(trial) = result.cells[0].trials.first() else { return };
    assert_eq!(result.cells[0].status, Status::Capped);
    let read = trial.phases.iter().find(|phase| phase.phase == "read").unwrap();
    assert_eq!((read.status, read.runs.len()), (Status::Capped, 3));
    for run in &read.runs {
        assert!(run.capped && run.ops > 0 && run.elapsed_ns < 3_000_000_000, "{run:?}");
    }
}
