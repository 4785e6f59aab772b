//! The engines and workloads of the build that need nothing installed.

use embermark_harness::{RunOptions, WorkerCommand};
use embermark_model::plan::Plan;
use embermark_model::{Durability, Scale, Status};

use crate::cells::plan;
use crate::trials::{Out, run};

crate::tests!(the_references_run_every_phase_of_the_sensors_workload);

fn the_references_run_every_phase_of_the_sensors_workload() {
    let out = Out::new();
    let args = vec!["worker-of-the-build".to_owned()];
    let options = RunOptions::new(out.path("")).unwrap();
    let worker = WorkerCommand { args, ..options.worker.clone() };
    let options = RunOptions { worker, ..options };
    let plan = Plan {
        workloads: vec!["sensors".to_owned()],
        scales: vec![Scale::Rows(2_000)],
        variants: vec!["single".to_owned()],
        phases: None,
        runs: 2,
        ..plan(&["memory", "null"])
    };
    let result = run(&plan, &options).unwrap();
    let workload = embermark_workloads::find("sensors").unwrap();
    for cell in &result.cells {
        assert_eq!((cell.status, cell.reason.as_deref()), (Status::Ok, None), "{}", cell.id);
        assert_eq!((cell.effective_durability, cell.reference), (Some(Durability::None), true));
        let phases = &cell.trials[0].phases;
        let expected: Vec<_> = workload.info().phases.iter().map(|phase| phase.name).collect();
        let mut ran: Vec<_> = phases.iter().map(|phase| phase.phase.as_str()).collect();
        assert_eq!(ran.len(), expected.len());
        ran.retain(|name| !expected.contains(name));
        assert_eq!(ran, Vec::<&str>::new());
        for phase in phases {
            assert_eq!(phase.runs.len(), 2);
            assert_eq!(phase.latency.is_some(), phase.ops > 1, "{}: {phase:?}", cell.id);
        }
    }
    assert!(result.manifest.floor.is_some(), "{:?}", result.manifest.warnings);
    assert_eq!(result.manifest.datasets["sensors"].rows, 2_000);
}
