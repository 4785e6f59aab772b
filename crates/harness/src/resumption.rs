//! Resumes an interrupted run if that is allowed: the figures of one result must come from one
//! plan, one program and one machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use embermark_model::ServerUrl;
use embermark_model::plan::Plan;
use embermark_model::result::{Machine, Manifest, ResultFile, Tool};

use crate::confinement::Confinement;
use crate::database_size::needed_bytes;
use crate::imitation::{Imitation, has_storage};
use crate::journal::{self, Head};
use crate::machine_limits::check_machine;
use crate::outdir::{self, LockedFolder, OutDir};
use crate::progress::{Progress, counted};
use crate::result_file::{assemble, write_result};
use crate::run_options::RunOptions;
use crate::session::Run;
use crate::system::System;
use crate::{HarnessError, Result, cells, device, manifest, passwords};

/// Largest relative difference of the memory that a kernel reports on the same machine.
const SAME_MEMORY: f64 = 0.02;

/// Resumes an interrupted run in the folder of `options`. Keeps the trials in its journal and runs
/// the missing ones. The result is the same as without the interrupt. The plan is the journal's,
/// and `asked`, if given, must be equal. The databases are in the same folder as before. For a
/// complete run the result is returned.
///
/// # Errors
/// If there is no such run, another process is working on it, or it was begun with another plan,
/// program, machine or data: the figures would not belong together. Otherwise those of
/// [`run`](crate::run).
pub fn resume(
    asked: Option<&Plan>,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<ResultFile> {
    let locked = LockedFolder::lock_run(&options.out)?;
    let path = locked.journal();
    let before = journal::read(&path)?;
    let Head { plan, manifest: Manifest { run_id, started, .. }, databases, cells, .. } =
        &before.head;
    let refuse = |problem| HarnessError::resume(&path, problem);
    if !before.head.manifest.client_machines.is_empty() {
        let again = "its clients are on several machines: begin a new run with `embermark fleet run --clients-of`";
        return Err(refuse(again.to_owned()));
    }
    if let Some(problem) = run_mismatch(&before.head, asked, options)? {
        return Err(refuse(problem));
    }
    let options = &options.for_plan(plan)?;
    cells::check(plan, &options.catalog)?;
    if before.finished.is_some() {
        progress.note("the run was complete: nothing was left to do");
        let result = assemble(&before);
        write_result(&locked.result(), &result)?;
        OutDir::tidy(locked, databases.clone(), run_id);
        return Ok(result);
    }
    check_machine(plan)?;
    let urls = asked.map_or(&options.urls, |asked| &asked.urls);
    let plan = &with_urls(plan, urls).map_err(refuse)?;
    let dirs = OutDir::reopen(locked, databases.clone(), run_id, options.keep)?;
    let mut machine = System::here().machine(&dirs.data);
    let began = &before.head.manifest.machine;
    if let Some(problem) = machine_mismatch(began, &machine) {
        return Err(refuse(problem));
    }
    let changes = changes(began, &machine);
    machine.emulates = began.emulates.clone();
    let device = began.emulates.as_ref().map(|emulated| {
        let device = device::find(&emulated.device)?;
        let limits = device.limits(&System::here(), &dirs.data, &plan.storages);
        limits.map_err(|why| device::refused(device.name, why))
    });
    let mut confinement = Confinement::for_device(run_id, device.transpose()?)?;
    if let Some(least) = cells::least_memory_limit(cells) {
        let allowed = confinement.allow_memory_limits(run_id, least);
        allowed.map_err(|why| refuse(format!("its memory limits cannot be set: {why}")))?;
    }
    let imitation = cells.iter().any(has_storage).then(|| {
        let begun = Imitation::begin(&dirs.data, needed_bytes(plan, cells));
        begun.map_err(|why| refuse(format!("its storages cannot be imitated: {why}")))
    });
    let imitation = imitation.transpose()?;
    let mut journal = journal::Writer::reopen(&path)?;
    let runnable: Vec<_> = cells.iter().filter(|cell| cell.skip.is_none()).cloned().collect();
    let all: u32 = cells::trials(plan, &runnable, &options.catalog)?.into_iter().sum();
    let done = before.trials.len();
    let of_all = match plan.lasts_ms {
        // Their number depends on the time.
        Some(_) => counted(done as u64, "trial"),
        None => format!("{done} of {}", counted(all.into(), "trial")),
    };
    progress.note(&format!("continuing the run of {started}: {of_all} done"));
    if done > 0 {
        journal.warn(format!(
            "the run was interrupted and continued at {} after {of_all}: the machine may \
             have been in another state before",
            manifest::now()
        ))?;
    }
    changes.into_iter().try_for_each(|change| journal.warn(change))?;
    let mut run = Run::new(run_id, (plan, options), dirs, confinement, journal, progress);
    run.imitation = imitation;
    run.count_earlier_time(before.trials.iter().map(|ended| ended.trial.wall_ns).sum());
    plan.urls.keys().try_for_each(|engine| run.remove_left(engine))?;
    run.prepare(&machine)?;
    run.trials()
}

/// Returns the plan of a journal, which has only the addresses of servers, with the URLs that are
/// given now.
fn with_urls(plan: &Plan, given: &BTreeMap<String, ServerUrl>) -> Result<Plan, String> {
    if let Some(engine) = given.keys().find(|engine| !plan.urls.contains_key(*engine)) {
        return Err(format!("it has no server of {engine} that is given by URL: leave out --url"));
    }
    let mut plan = plan.clone();
    for (engine, url) in &mut plan.urls {
        match given.get(engine) {
            Some(now) if now.to_string() == url.to_string() => *url = now.clone(),
            Some(now) => {
                return Err(format!(
                    "it began on the server of {engine} at {url}, and --url names the one at {now}"
                ));
            }
            None if url.is_incomplete() => {
                let variable = passwords::variable(engine);
                return Err(format!(
                    "user, password and parameters of the server of {engine} at {url} are not recorded: give them again with --url {engine}=URL; the password may be in the environment as {variable}"
                ));
            }
            None => {}
        }
    }
    Ok(plan)
}

/// Describes how the request, or the program, differs from that of the journal.
fn run_mismatch(head: &Head, plan: Option<&Plan>, options: &RunOptions) -> Result<Option<String>> {
    let other = tool_mismatch(&head.manifest.tool, &manifest::tool())
        .or_else(|| plan_mismatch(&head.plan, &with_card(head, plan?)));
    if other.is_some() {
        return Ok(other);
    }
    if let Some(device) = options.device {
        let before = head.manifest.machine.emulates.as_ref().map(|e| e.device.as_str());
        if before != Some(device.name) {
            let before = before.unwrap_or("no device");
            return Ok(Some(format!("it emulates {before}; leave out --device")));
        }
    }
    if let Some(folder) = &options.data {
        let folder = outdir::absolute(folder)?;
        if head.databases.as_ref() != Some(&folder) {
            let before = head.databases.as_deref().unwrap_or(Path::new("its own folder"));
            let before = before.display();
            return Ok(Some(format!("its databases were in {before}; leave out --dir")));
        }
    }
    Ok(None)
}

/// Returns the requested plan. If it names no storage, adds the storage that came with an emulated
/// device.
fn with_card(head: &Head, asked: &Plan) -> Plan {
    let mut plan = asked.clone();
    if plan.storages.is_empty() && head.manifest.machine.emulates.is_some() {
        plan.storages.clone_from(&head.plan.storages);
    }
    plan
}

fn tool_mismatch(before: &Tool, now: &Tool) -> Option<String> {
    let name = |tool: &Tool| {
        let commit = tool.commit.as_ref().map(|commit| format!(" ({commit})"));
        format!("{}{}, {} build", tool.version, commit.unwrap_or_default(), tool.profile)
    };
    let (before, now) = (name(before), name(now));
    (before != now).then(|| {
        format!(
            "embermark {before} began it, and this is {now}: their figures do not belong in one \
             result; continue with the program that began it, or begin a new run"
        )
    })
}

/// Describes how the request differs from the journal's plan, by the names of the result file.
fn plan_mismatch(before: &Plan, now: &Plan) -> Option<String> {
    let fields = |plan: &Plan| match serde_json::to_value(plan) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (before, now) = (fields(before), fields(now));
    let show =
        |value: Option<&serde_json::Value>| value.map_or("none".to_owned(), ToString::to_string);
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differences: Vec<String> = names
        .into_iter()
        .filter(|name| before.get(*name) != now.get(*name))
        .map(|name| format!("{name} {} (now {})", show(before.get(name)), show(now.get(name))))
        .collect();
    (!differences.is_empty()).then(|| {
        format!(
            "it keeps its plan: {}; leave out the options of the plan or give \
             the same, or begin a new run",
            differences.join(", ")
        )
    })
}

fn machine_mismatch(before: &Machine, now: &Machine) -> Option<String> {
    let same_memory = before.memory_bytes.zip(now.memory_bytes).is_none_or(|(before, now)| {
        (before as f64 - now as f64).abs() <= before as f64 * SAME_MEMORY
    });
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let memory = |machine: &Machine| {
        machine.memory_bytes.filter(|_| !same_memory).map(|bytes| format!("{bytes} bytes"))
    };
    [
        ("CPU", before.cpu.clone(), now.cpu.clone()),
        ("number of CPUs", number(before.cpus), number(now.cpus)),
        ("memory", memory(before), memory(now)),
        ("limit of the process", before.limits_in_words(), now.limits_in_words()),
        ("databases' file system", before.file_system.clone(), now.file_system.clone()),
    ]
    .iter()
    .find_map(|(what, before, now)| {
        let (before, now) = difference(before, now)?;
        Some(format!(
            "it began where the {what} was {before}, and here it is {now}: their figures do not \
             belong in one result; begin a new run"
        ))
    })
}

/// Returns what changed on the same machine, each as a warning.
fn changes(before: &Machine, now: &Machine) -> Vec<String> {
    let changed = [
        ("kernel", &before.kernel, &now.kernel),
        ("operating system", &before.os, &now.os),
        ("CPU frequency governor", &before.governor, &now.governor),
        ("databases' mount options", &before.mount_options, &now.mount_options),
        ("databases' device", &before.device, &now.device),
    ];
    let warning = |(what, before, now)| {
        let (before, now) = difference(before, now)?;
        Some(format!(
            "the {what} was {before} when the run began and {now} when it continued; set it back and begin a new run if that matters"
        ))
    };
    changed.into_iter().filter_map(warning).collect()
}

/// Returns both values of a fact if they differ.
fn difference<'a>(
    before: &'a Option<String>,
    now: &'a Option<String>,
) -> Option<(&'a str, &'a str)> {
    let [was, is] = [before, now].map(|value| value.as_deref().unwrap_or("unknown"));
    (before != now).then_some((was, is))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            cpu: Some("A53".to_owned()),
            cpus: Some(4),
            memory_bytes: Some(1_000_000_000),
            kernel: Some("Linux 6.1".to_owned()),
            file_system: Some("ext4".to_owned()),
            ..Machine::default()
        }
    }

    #[test]
    fn another_machine_is_refused_by_what_differs_and_a_new_kernel_is_a_warning() {
        assert_eq!(machine_mismatch(&machine(), &machine()), None);
        let more = Machine { memory_bytes: Some(1_010_000_000), ..machine() };
        assert_eq!(machine_mismatch(&machine(), &more), None);
        let others = [
            (Machine { cpu: Some("A76".to_owned()), ..machine() }, "the CPU was A53"),
            (Machine { cpus: Some(2), ..machine() }, "number of CPUs was 4, and here it is 2"),
            (Machine { memory_bytes: Some(2_000_000_000), ..machine() }, "2000000000 bytes"),
            (Machine { file_system: None, ..machine() }, "here it is unknown"),
        ];
        for (other, says) in others {
            let refusal = machine_mismatch(&machine(), &other);
            assert!(refusal.as_ref().is_some_and(|text| text.contains(says)), "{refusal:?}");
        }
        let updated = Machine { kernel: Some("Linux 6.2".to_owned()), ..machine() };
        let changes = changes(&machine(), &updated);
        assert!(changes.len() == 1 && changes[0].contains("6.1"), "{changes:?}");
        assert_eq!(machine_mismatch(&machine(), &updated), None);
    }

    #[test]
    fn another_build_or_commit_is_another_program() {
        let tool = |commit: &str, profile: &str| Tool {
            version: "1.0".to_owned(),
            commit: Some(commit.to_owned()),
            profile: profile.to_owned(),
        };
        assert_eq!(tool_mismatch(&tool("a", "debug"), &tool("a", "debug")), None);
        for other in [tool("b", "debug"), tool("a", "release")] {
            let refusal = tool_mismatch(&tool("a", "debug"), &other).unwrap_or_default();
            assert!(refusal.contains("embermark 1.0 (a), debug build began it"), "{refusal}");
        }
    }
}
