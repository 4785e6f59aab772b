//! Going on with a run that was cut off, where that may be: figures of one result must come from
//! one plan, one program and one machine.

use std::path::Path;

use embermark_model::plan::Plan;
use embermark_model::result::{Machine, Manifest, ResultFile, Tool};
use embermark_model::url::password_variable;

use crate::journal::{self, Head};
use crate::machine::System;
use crate::outdir::{self, Locked, OutDir};
use crate::progress::Progress;
use crate::run;
use crate::run_options::RunOptions;
use crate::session::Run;
use crate::stage::Stages;
use crate::{HarnessError, cells, manifest};

/// The share by which the memory that a kernel reports of one and the same machine may differ.
const SAME_MEMORY: f64 = 0.02;

/// Goes on with a run that was cut off, in the folder of `options`: the trials that its journal
/// has are not repeated, those that it lacks are run, and then it is as if nothing had happened.
/// The plan is the journal's; `asked` is what is asked for beside, and may not be another. The
/// databases live where they lived. Of a run that was complete the result is returned as it is.
///
/// # Errors
/// When there is no such run, another process is at work on it, or it was begun with another
/// plan, program, machine or data: the figures would not belong together. Otherwise those of
/// [`run`](crate::run).
pub fn resume(
    asked: Option<&Plan>,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<ResultFile, HarnessError> {
    let locked = Locked::of_run(&options.out)?;
    let path = locked.journal();
    let before = journal::read(&path)?;
    let Head { plan, manifest: Manifest { run_id, started, .. }, databases, cells, .. } =
        &before.head;
    let now = Now {
        plan: asked,
        databases: options.data.as_deref(),
        device: options.device.map(|device| device.name),
    };
    check(&before.head, &now, &path)?;
    cells::check(plan, &options.catalog)?;
    if before.finished.is_some() {
        progress.note("the run was complete: nothing was left to do");
        let result = journal::assemble(&before);
        journal::write_result(&locked.result(), &result)?;
        OutDir::tidy(locked, databases.clone(), run_id);
        return Ok(result);
    }
    let plan = &with_secrets(plan, asked)
        .map_err(|problem| HarnessError::Resume { path: path.clone(), problem })?;
    let dirs = OutDir::reopen(locked, databases.clone(), run_id, options.keep)?;
    let mut machine = System::here().machine(dirs.data());
    let changes = check_machine(&before.head, &machine, &path)?;
    let emulates = before.head.manifest.machine.emulates.as_ref();
    machine.emulates = emulates.cloned();
    let limited = emulates.map(|limits| run::limit(run_id, limits)).transpose()?;
    let mut journal = journal::Writer::reopen(&path)?;
    let all = (cells.iter().filter(|cell| cell.skip.is_none()))
        .map(|cell| {
            let workload = options.catalog.workload(&cell.id.workload)?;
            Ok(u64::from(cells::trials(plan, &workload.info())))
        })
        .sum::<Result<u64, HarnessError>>()?;
    let done = before.trials.len();
    progress.note(&format!("going on with the run of {started}: {done} of {all} trials are done"));
    if done > 0 {
        journal.warn(format!(
            "the run was cut off and gone on with at {} after {done} of {all} trials: the machine \
             may have been in another state before",
            manifest::now()
        ))?;
    }
    changes.into_iter().try_for_each(|change| journal.warn(change))?;
    let mut run = Run { plan, options, dirs, stages: Stages::default(), limited };
    run.prepare(&machine, &mut journal, progress)?;
    run.trials(journal, progress)
}

/// The plan of a journal, which has no secrets, with those of what is asked for or else of the
/// environment.
fn with_secrets(plan: &Plan, asked: Option<&Plan>) -> Result<Plan, String> {
    let mut plan = plan.clone();
    for (engine, url) in plan.urls.iter_mut().filter(|(_, url)| url.lacks_secrets()) {
        let variable = password_variable(engine);
        let given = asked.and_then(|asked| asked.urls.get(engine));
        *url = match (given, std::env::var(&variable)) {
            (Some(given), _) => given.clone(),
            (None, Ok(password)) => url.with_password(&password),
            (None, Err(_)) => {
                return Err(format!(
                    "the password of the server of {engine} is written nowhere: give it in the \
                     environment as {variable}"
                ));
            }
        };
    }
    Ok(plan)
}

/// What a run is gone on with.
struct Now<'a> {
    /// What is asked for beside the folder of the run, if anything.
    plan: Option<&'a Plan>,
    /// The folder named for databases, if any.
    databases: Option<&'a Path>,
    /// The device to be imitated, if any.
    device: Option<&'a str>,
}

/// Checks that nothing is asked for but what the journal says, and that this is the program that
/// began it.
///
/// # Errors
/// [`HarnessError::Resume`] when not.
fn check(head: &Head, now: &Now<'_>, path: &Path) -> Result<(), HarnessError> {
    let refuse = |problem: Option<String>| match problem {
        Some(problem) => Err(HarnessError::Resume { path: path.to_owned(), problem }),
        None => Ok(()),
    };
    refuse(another_tool(&head.manifest.tool, &manifest::tool()))?;
    refuse(now.plan.and_then(|plan| another_plan(&head.plan, plan)))?;
    if let Some(device) = now.device {
        let before = head.manifest.machine.emulates.as_ref().map(|e| e.device.as_str());
        refuse((before != Some(device)).then(|| {
            format!("it emulates {}; leave out --device", before.unwrap_or("no device"))
        }))?;
    }
    if let Some(folder) = now.databases {
        let folder = outdir::named(folder)?;
        refuse((head.databases.as_ref() != Some(&folder)).then(|| {
            let before = head.databases.as_deref().unwrap_or(Path::new("its own folder"));
            format!("its databases lived in {}; leave out --dir", before.display())
        }))?;
    }
    Ok(())
}

/// Checks that this is the machine on which the run began; what has changed about it.
///
/// # Errors
/// [`HarnessError::Resume`] when it is another one.
fn check_machine(head: &Head, now: &Machine, path: &Path) -> Result<Vec<String>, HarnessError> {
    match another_machine(&head.manifest.machine, now) {
        Some(problem) => Err(HarnessError::Resume { path: path.to_owned(), problem }),
        None => Ok(changes(&head.manifest.machine, now)),
    }
}

fn another_tool(before: &Tool, now: &Tool) -> Option<String> {
    let name = |tool: &Tool| {
        let commit = tool.commit.as_ref().map(|commit| format!(" ({commit})"));
        format!("{}{}, {} build", tool.version, commit.unwrap_or_default(), tool.profile)
    };
    let (before, now) = (name(before), name(now));
    (before != now).then(|| {
        format!(
            "embermark {before} began it, and this is {now}: their figures do not belong in one \
             result; go on with the program that began it, or begin a new run"
        )
    })
}

/// What is asked otherwise than the journal says, by the names of the result file.
fn another_plan(before: &Plan, now: &Plan) -> Option<String> {
    let fields = |plan: &Plan| match serde_json::to_value(plan) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (before, now) = (fields(before), fields(now));
    let show =
        |value: Option<&serde_json::Value>| value.map_or("none".to_owned(), ToString::to_string);
    let mut names: Vec<&String> = before.keys().chain(now.keys()).collect();
    names.sort_unstable();
    names.dedup();
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

fn another_machine(before: &Machine, now: &Machine) -> Option<String> {
    let memory = |machine: &Machine| machine.memory_bytes.map(|bytes| bytes as f64);
    let other_memory = memory(before)
        .zip(memory(now))
        .is_some_and(|(before, now)| (before - now).abs() > before * SAME_MEMORY);
    let difference = |what: &str, before: Option<String>, now: Option<String>| {
        (before != now).then(|| {
            let show = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
            format!(
                "it began where the {what} was {}, and here it is {}: their figures do not belong \
                 in one result; begin a new run",
                show(before),
                show(now)
            )
        })
    };
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    difference("CPU", before.cpu.clone(), now.cpu.clone())
        .or_else(|| difference("number of CPUs", number(before.cpus), number(now.cpus)))
        .or_else(|| {
            let bytes = |machine: &Machine| machine.memory_bytes.map(|b| format!("{b} bytes"));
            difference("memory", bytes(before), bytes(now)).filter(|_| other_memory)
        })
        .or_else(|| {
            difference(
                "databases' file system",
                before.file_system.clone(),
                now.file_system.clone(),
            )
        })
}

/// What is different on the same machine, each as a warning.
fn changes(before: &Machine, now: &Machine) -> Vec<String> {
    let changed = |what: &str, before: &Option<String>, now: &Option<String>| {
        let show = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        (before != now).then(|| {
            format!(
                "the {what} was {} when the run began and {} when it was gone on with; set it back \
                 and begin a new run where that matters",
                show(before),
                show(now)
            )
        })
    };
    [
        changed("kernel", &before.kernel, &now.kernel),
        changed("operating system", &before.os, &now.os),
        changed("CPU frequency governor", &before.governor, &now.governor),
        changed("databases' mount options", &before.mount_options, &now.mount_options),
        changed("databases' device", &before.device, &now.device),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests;
