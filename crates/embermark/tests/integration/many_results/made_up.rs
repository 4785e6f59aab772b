//! Result files of devices that do not exist. Each file states that its figures were not measured.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Content of each file. The number of cells is lines times engines.
pub struct Shape {
    pub devices: usize,
    pub models: usize,
    /// Workload, scale and tier.
    pub lines: &'static [(&'static str, &'static str, &'static str)],
    pub engines: &'static [&'static str],
    pub phases: &'static [&'static str],
    pub trials: u32,
    pub runs: u32,
    /// Number of results of each device. Each is one month and one version of every engine later.
    pub versions: usize,
}

/// Text in every made-up file.
pub const MADE_UP: &str = "made up for a test of reports: nothing here was measured";

/// Writes a file for each device: `DEVICE/result.json`, or `DEVICE-VERSION/result.json` for several
/// versions.
pub fn write(folder: &Path, shape: &Shape) {
    for (device, version) in (0..shape.devices)
        .flat_map(|device| (0..shape.versions).map(move |version| (device, version)))
    {
        let of_version = if shape.versions > 1 { format!("-{version}") } else { String::new() };
        let of = folder.join(format!("device-{device:04}{of_version}"));
        fs::create_dir_all(&of).unwrap();
        let text = serde_json::to_string(&result((device, version), shape)).unwrap();
        fs::write(of.join("result.json"), text).unwrap();
    }
}

fn result((device, version): (usize, usize), shape: &Shape) -> Value {
    let lines = || shape.lines.iter().enumerate();
    let cells: Vec<Value> = lines()
        .flat_map(|line| shape.engines.iter().enumerate().map(move |engine| (line, engine)))
        .map(|((line, id), (engine, name))| cell((device, line, engine), version, id, name, shape))
        .collect();
    let all = |of: fn(&(&'static str, &'static str, &'static str)) -> &'static str| {
        let mut names: Vec<&str> = shape.lines.iter().map(of).collect();
        names.dedup();
        names
    };
    let model = device % shape.models;
    json!({
        "schema": 3,
        "manifest": {
            "run_id": format!("made-up-{device}-{version}"),
            "started": format!("20{:02}-{:02}-01T00:00:00Z", 26 + version / 12, 1 + version % 12),
            "finished": "2026-01-01T01:00:00Z",
            "tool": { "version": "0.0.0", "profile": "release" },
            "machine": {
                "board": format!("Made-up board {}", (b'A' + model as u8) as char),
                "cpu": "Made-up CPU", "cpus": 4, "memory_bytes": 4_000_000_000_u64,
                "os": "Made-up OS 1", "kernel": "Linux 6", "file_system": "ext4",
            },
            "datasets": {},
            "warnings": [MADE_UP],
        },
        "plan": {
            "workloads": all(|line| line.0), "engines": shape.engines,
            "scales": all(|line| line.1), "durabilities": ["process"], "variants": ["single"],
            "phases": null, "data": "synthetic", "runs": shape.runs, "warmup_runs": 1,
            "trials": shape.trials, "max_run_time_ms": 20_000, "seed": 42, "memory_bytes": 67_108_864,
        },
        "cells": cells,
    })
}

/// Returns the criterion to which a phase of that name counts.
fn counts(phase: &str) -> &'static str {
    match phase {
        "load" => "load",
        "read" => "point",
        "update" => "update",
        _ => "analytics",
    }
}

/// Returns a number from 0 to 1 that the indexes determine.
fn share(places: &[usize]) -> f64 {
    let mixed = places.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |mixed, index| {
        (mixed ^ *index as u64).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31)
    });
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

fn cell(
    (device, line, engine): (usize, usize, usize),
    version: usize,
    (workload, scale, tier): &(&str, &str, &str),
    name: &str,
    shape: &Shape,
) -> Value {
    let model = device % shape.models;
    // Each model has a speed, which differs between engines. Devices of one model differ slightly.
    let speed = 300.0 * (1.0 + 0.7 * model as f64) * (1.0 + share(&[model, engine, line]));
    let own = 0.9 + 0.2 * share(&[device, engine]);
    let own = if version == 0 { own } else { own * (0.9 + 0.2 * share(&[engine, version])) };
    let trial = |trial: u32| {
        let phases = shape.phases.iter().enumerate().map(|(at, phase)| {
            let per_op = speed * own * (1.0 + engine as f64 * (0.2 + share(&[engine, at])));
            let run = |run: u32| {
                let noise =
                    0.98 + 0.04 * share(&[device, at, engine, (trial * 100 + run) as usize]);
                let elapsed = (per_op * noise * 1e4) as u64;
                json!({
                    "elapsed_ns": elapsed, "ops": 10_000, "discarded": run == 0,
                    "engine": { "cpu_ns": elapsed, "peak_bytes": 9_000_000 + 1_000_000 * engine },
                })
            };
            json!({
                "phase": phase, "kind": { "counts": counts(phase) }, "execution": "native", "status": "ok", "ops": 10_000,
                "runs": (0..shape.runs).map(run).collect::<Vec<_>>(),
            })
        });
        json!({
            "index": trial, "order": trial, "status": "ok", "version": format!("1.{version}"), "settings": {},
            "phases": phases.collect::<Vec<_>>(), "wall_ns": 1_000_000_000,
        })
    };
    // Some cells have failed.
    let failed = share(&[device, line, engine, 99]) < 0.003;
    let status = if failed { "failed" } else { "ok" };
    json!({
        "id": { "workload": workload, "scale": scale, "durability": tier, "variant": "single", "engine": name },
        "status": status,
        "reason": failed.then_some(MADE_UP),
        "trials": if failed { Vec::new() } else { (0..shape.trials).map(trial).collect::<Vec<_>>() },
    })
}
