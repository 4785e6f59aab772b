//! The plan as a page lists it.

use std::fmt::Display;

use embermark_model::MemoryLimit;
use embermark_model::plan::{Plan, Rate};

use crate::note::{Note, note};
use crate::{format, notes, text};

/// Lists the options of a plan, without those that were left to each workload or not asked for.
pub(super) fn options(plan: &Plan) -> Vec<Note> {
    // Without `..`, so that a new option is either listed or named among these.
    let Plan {
        // Notes on workloads, engines, servers and data sets have them.
        workload_files: _,
        configurations: _,
        engine_libraries: _,
        urls: _,
        data: _,
        workloads,
        engines,
        scales,
        scales_of,
        durabilities,
        variants,
        repeats,
        overview,
        phases,
        runs,
        warmup_runs,
        trials,
        own_trials,
        max_run_time_ms,
        window_ms,
        warm_up_ms,
        rate,
        clients,
        target_rate,
        p99_limit_ms,
        timeout_ms,
        seed,
        memory_bytes,
        memory_limits,
        storages,
        network,
        cold,
        cards,
        budget_ms,
        lasts_ms,
        left_out,
        disk_bytes,
        accepted_licences,
    } = plan;
    let time = |ms: &u64| format::duration(*ms as f64 * 1e6);
    let longest = |ms: &Option<u64>| ms.as_ref().map_or_else(|| "none".to_owned(), time);
    let flag = |is: bool, says: &str| if is { says.to_owned() } else { String::new() };
    let of_all = Some(listed(scales)).filter(|all| !all.is_empty());
    let of_some = scales_of.iter().map(|(workload, own)| format!("{workload}: {}", listed(own)));
    let window = window_ms.as_ref().map(time);
    let rate = match rate {
        Rate::Max => format!("the highest with a p99 of commits up to {}", time(p99_limit_ms)),
        rate if *rate == Rate::default() => String::new(),
        Rate::PerSecond(rate) => format!("{rate} per second"),
    };
    let target_rate = target_rate.map(|rate| format!("{rate} operations per second"));
    let disk = disk_bytes.map(|bytes| MemoryLimit(bytes).to_string());
    let cards: Vec<&str> = cards.iter().map(|card| &*card.name).collect();
    let options = [
        ("workloads", workloads.join(", ")),
        ("every workload", flag(*overview, "at small scales, for short times")),
        ("repeats", repeats.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("scales", text::joined(of_all.into_iter().chain(of_some), "; ")),
        ("next scale only within", budget_ms.as_ref().map(time).unwrap_or_default()),
        ("engines", engines.join(", ")),
        ("tiers", listed(durabilities)),
        ("variants", variants.join(", ")),
        ("phases", phases.as_deref().unwrap_or_default().join(", ")),
        ("time of the run", lasts_ms.as_ref().map(time).unwrap_or_default()),
        ("left out", left_out.join("; ")),
        ("runs in a trial", format!("{runs}, {warmup_runs} of them to warm up")),
        ("trials", format!("{trials}{}", flag(*own_trials, ", or a workload's own number"))),
        ("longest trial", longest(timeout_ms)),
        ("longest run time", longest(max_run_time_ms)),
        (
            "phases of fixed length last",
            window.unwrap_or_else(|| "as long as each workload has it".to_owned()),
        ),
        ("warm-up of such phases", warm_up_ms.as_ref().map(time).unwrap_or_default()),
        ("rate of samples", rate),
        ("cache memory", format::bytes(*memory_bytes as f64)),
        ("memory limits", each_or_none(memory_limits, ToString::to_string)),
        ("storages", each_or_none(storages, |storage| storage.name.to_string())),
        ("file system of a trial", disk.unwrap_or_default()),
        ("flash cards", cards.join(", ")),
        ("seed", seed.to_string()),
        ("cold reads", if *cold { "yes" } else { "no" }.to_owned()),
        ("clients", flag(*clients > 1, &clients.to_string())),
        ("target rate", target_rate.unwrap_or_default()),
        ("network link", network.as_ref().map(notes::network::parameters).unwrap_or_default()),
        ("licences accepted", accepted_licences.join(", ")),
    ];
    let given = options.into_iter().filter(|(_, says)| !says.is_empty());
    given.map(|(about, says)| note(about, text::plain(&says))).collect()
}

fn listed(all: &[impl Display]) -> String {
    text::joined(all.iter().map(ToString::to_string), ", ")
}

/// Lists limits or storages, where `None` is this machine's own.
fn each_or_none<T>(all: &[Option<T>], name: fn(&T) -> String) -> String {
    let name = |one: &Option<T>| one.as_ref().map_or_else(|| "none".to_owned(), name);
    text::joined(all.iter().map(name), ", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use embermark_model::{Durability, Scale};

    use super::*;

    #[test]
    fn options_that_were_given_are_listed_and_empty_ones_left_out() {
        let lists = |plan: &Plan, about: &str| {
            options(plan).into_iter().find(|note| note.about == about).map(|note| note.says)
        };
        let usual = Plan::default();
        for absent in ["workloads", "scales", "phases", "memory limits", "rate of samples"] {
            assert_eq!(lists(&usual, absent), None);
        }
        assert_eq!(lists(&usual, "longest trial").as_deref(), Some("1,800 s"));
        let plan = Plan {
            scales: vec![Scale::Rows(10_000)],
            scales_of: BTreeMap::from([("events".to_owned(), vec![Scale::Full])]),
            durabilities: vec![Durability::Process, Durability::Power],
            phases: Some(vec!["load".to_owned(), "read".to_owned()]),
            memory_limits: vec![None, Some(MemoryLimit(256 << 20))],
            rate: Rate::Max,
            lasts_ms: Some(300_000),
            disk_bytes: Some(1 << 30),
            ..Plan::default()
        };
        for (about, says) in [
            ("scales", "10k; events: full"),
            ("tiers", "process, power"),
            ("phases", "load, read"),
            ("memory limits", "none, 256 MiB"),
            ("rate of samples", "the highest with a p99 of commits up to 100 ms"),
            ("time of the run", "300 s"),
            ("file system of a trial", "1 GiB"),
        ] {
            assert_eq!(lists(&plan, about).as_deref(), Some(says), "{about}");
        }
    }
}
