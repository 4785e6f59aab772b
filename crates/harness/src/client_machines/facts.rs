//! Facts about the client machines.

use embermark_model::result::{Machine, Tool};

use super::protocol::Facts;
use crate::HarnessError;

/// Returns what all machines have in common. Facts that differ are absent.
pub(super) fn in_common(facts: &[Facts]) -> Machine {
    let mut machines = facts.iter().map(|facts| &facts.machine);
    let Some(mut common) = machines.next().cloned() else { return Machine::default() };
    // The load differs with the time at which each was asked.
    common.load = None;
    fn keep<T: PartialEq>(own: &mut Option<T>, other: &Option<T>) {
        if own != other {
            *own = None;
        }
    }
    for other in machines {
        keep(&mut common.board, &other.board);
        keep(&mut common.cpu, &other.cpu);
        keep(&mut common.cpus, &other.cpus);
        keep(&mut common.memory_bytes, &other.memory_bytes);
        keep(&mut common.page_bytes, &other.page_bytes);
        common.limits.retain(|name, value| other.limits.get(name) == Some(value));
        keep(&mut common.kernel, &other.kernel);
        keep(&mut common.os, &other.os);
        keep(&mut common.governor, &other.governor);
        keep(&mut common.file_system, &other.file_system);
        keep(&mut common.mount_options, &other.mount_options);
        keep(&mut common.device, &other.device);
    }
    common
}

/// Returns the version of the program, which must be the same on all machines.
pub(super) fn one_tool(names: &[String], facts: &[Facts]) -> Result<Tool, HarnessError> {
    let tools = || names.iter().zip(facts.iter().map(|facts| &facts.tool));
    let Some((first, tool)) = tools().next() else {
        return Err(HarnessError::Plan("no client machine is given".to_owned()));
    };
    let same = |other: &Tool| {
        (&other.version, &other.commit, &other.profile)
            == (&tool.version, &tool.commit, &tool.profile)
    };
    match tools().find(|(_, other)| !same(other)) {
        Some((other, _)) => Err(HarnessError::Plan(format!(
            "{first} and {other} have different builds of embermark, whose figures do not belong \
             together: put packages of one build into the fleet's folder"
        ))),
        None => Ok(tool.clone()),
    }
}
