//! A run in which everything was measured, with a different number for each figure.

use std::collections::BTreeMap;

use embermark_model::result::{
    BackgroundCpu, DeviceIo, DiskCurve, DiskSize, Energy, Latency, Loaded, Maintenance, Observed,
    Period, Resources, ResultFile, Run,
};
use serde_json::Value;

/// Identifies the run.
pub const ELAPSED_NS: u64 = 7_000_000;

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    fn resources(&mut self) -> Resources {
        Resources {
            cpu_ns: Some(self.next()),
            peak_bytes: Some(self.next()),
            mean_bytes: Some(self.next()),
            read_bytes: Some(self.next()),
            written_bytes: Some(self.next()),
        }
    }

    fn device(&mut self) -> Option<DeviceIo> {
        let mut next = || self.next();
        Some(DeviceIo { read_bytes: next(), written_bytes: next(), flushes: next() })
    }

    fn disk(&mut self) -> Option<DiskSize> {
        Some(DiskSize { allocated_bytes: self.next(), apparent_bytes: self.next() })
    }

    fn latency(&mut self) -> Latency {
        Latency {
            samples: self.next(),
            sampled_every: 1,
            min: self.next(),
            mean: self.next() as f64,
            p50: self.next(),
            p95: Some(self.next()),
            p99: Some(self.next()),
            p99_9: Some(self.next()),
            max: self.next(),
            stalled: Some(0.25),
            hdr: String::new(),
        }
    }
}

/// Puts the run into the first phase of the first cell's second trial. Returns every number that
/// its line must have.
pub fn measured(file: &mut ResultFile) -> Vec<u64> {
    let mut numbers = Numbers(8_000_000);
    let trial = &mut file.cells[0].trials[1];
    trial.open_ns = Some(numbers.next());
    trial.baseline_bytes = Some(numbers.next());
    trial.wall_ns = numbers.next();
    (trial.disk, trial.device_io) = (numbers.disk(), numbers.device());
    trial.background_cpu = Some(BackgroundCpu {
        cpu_ns: numbers.next(),
        stolen_ns: numbers.next(),
        total_cpu_ns: numbers.next(),
    });
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let roles = words(&["server", "writer", "reader", "sensor", "a-new-role"]);
    let counts = words(&["samples", "lost", "lost-ever", "deadline-misses", "latest-ns", "reads"]);
    let more = words(&["missed-slots", "sustained-rate", "a-new-count"]);
    let latencies = words(&["commit", "read", "staleness", "a-new-latency"]);
    let observed = Observed {
        window_ns: numbers.next(),
        processes: roles.into_iter().map(|role| (role, numbers.resources())).collect(),
        network_bytes: Some(numbers.next()),
        disk_growth_bytes: Some(numbers.next().cast_signed()),
        disk: Some(DiskCurve {
            begin_bytes: numbers.next(),
            end_bytes: numbers.next(),
            points: vec![(0.0, 0), (0.5, 7)],
            device_written: Vec::new(),
            cpu_ns: Some(numbers.next()),
        }),
        // Another kind of phase has it. `embermark/tests/integration/retention.rs` tests its
        // columns.
        timeline: None,
        counts: counts.into_iter().chain(more).map(|name| (name, numbers.next())).collect(),
        latencies: latencies.into_iter().map(|name| (name, numbers.latency())).collect(),
        remarks: Vec::new(),
    };
    let maintenance = Maintenance {
        elapsed_ns: numbers.next(),
        // The probe measures a maintenance, and does not sample a mean.
        engine: Resources { mean_bytes: None, ..numbers.resources() },
        disk_before: numbers.disk(),
        disk_after: numbers.disk(),
        device_io: numbers.device(),
    };
    let loaded =
        Loaded { user_bytes: numbers.next(), device_io: None, maintenance: Some(maintenance) };
    let phase = &mut trial.phases[0];
    phase.latency = Some(numbers.latency());
    phase.runs[0] = Run {
        elapsed_ns: ELAPSED_NS,
        ops: numbers.next(),
        engine: numbers.resources(),
        client: Some(Resources { mean_bytes: None, ..numbers.resources() }),
        observed: Some(observed),
        device_io: numbers.device(),
        period: Some(Period {
            began: "2026-03-01T12:00:00Z".to_owned(),
            lasted_ns: numbers.next(),
        }),
        energy: Some(Energy {
            source: "meter".to_owned(),
            joules: numbers.next() as f64,
            over_idle_joules: Some(numbers.next() as f64),
            idle_error_joules: Some(numbers.next() as f64),
        }),
        loaded: Some(loaded),
        ..phase.runs[0].clone()
    };
    phase.runs.truncate(1);
    trial.phases.truncate(1);
    let mut found = Vec::new();
    leaves(&serde_json::to_value(&file.cells[0].trials[1]).expect("JSON"), &mut found);
    found.retain(|number| *number > 8_000_000);
    assert!(found.len() > 100, "{}", found.len());
    found
}

fn leaves(value: &Value, found: &mut Vec<u64>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64().map(|number| number as u64)),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| leaves(item, found)),
        _ => {}
    }
}

/// Returns the numbers that are in no column.
pub fn missing(numbers: &[u64], columns: &BTreeMap<String, String>) -> Vec<u64> {
    let held: Vec<&str> = columns.values().map(String::as_str).collect();
    let is_held = |number: &u64| {
        let real = format!("{number}.0");
        held.iter().any(|held| *held == number.to_string() || *held == real)
    };
    numbers.iter().copied().filter(|number| !is_held(number)).collect()
}
