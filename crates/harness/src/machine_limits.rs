//! Checks that this machine allows what a plan requests.

use std::path::Path;

use embermark_model::plan::Plan;

use crate::system::System;
use crate::{HarnessError, Result};

/// Checks that this machine allows what a plan requests. A run, its resumption and its
/// [preview](crate::preview) do this first, before they make a folder or start a process.
///
/// # Errors
/// If the machine does not allow it. The error gives the first reason, and what to do.
pub fn check_machine(plan: &Plan) -> Result<()> {
    check_memory(plan, System::here().machine(Path::new("/")).memory_bytes)
}

/// Refuses a cache and memory limits that are larger than the memory of the machine.
fn check_memory(plan: &Plan, here: Option<u64>) -> Result<()> {
    let Some(here) = here else { return Ok(()) };
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    if plan.memory_bytes > here {
        return Err(HarnessError::Plan(format!(
            "a cache of {:.1} GiB (--cache) exceeds this machine's memory of {:.1} GiB: give less",
            gibibytes(plan.memory_bytes),
            gibibytes(here)
        )));
    }
    let limit = plan.memory_limits.iter().flatten().find(|limit| limit.0 > here);
    limit.map_or(Ok(()), |limit| {
        Err(HarnessError::Plan(format!(
            "memory limit {limit} exceeds this machine's memory of {} MiB",
            here >> 20
        )))
    })
}

#[cfg(test)]
mod tests {
    use embermark_model::MemoryLimit;

    use super::*;

    #[test]
    fn a_cache_and_limits_must_fit_into_the_memory_of_the_machine() {
        let of = |memory_bytes: u64, limit: u64| Plan {
            memory_bytes,
            memory_limits: vec![None, Some(MemoryLimit(limit))],
            ..Plan::default()
        };
        let check = |plan: &Plan, here| check_memory(plan, here).map_err(|e| e.to_string());
        assert_eq!(check(&of(1 << 30, 1 << 30), Some(1 << 30)), Ok(()));
        assert_eq!(check(&of(1 << 40, 1 << 40), None), Ok(()));
        let refused = check(&of(1 << 31, 1 << 30), Some(1 << 30)).unwrap_err();
        assert!(refused.contains("2.0 GiB (--cache) exceeds") && refused.contains("1.0 GiB"));
        let refused = check(&of(1 << 30, 1 << 31), Some(1 << 30)).unwrap_err();
        assert!(refused.contains("limit 2 GiB exceeds") && refused.contains("1024 MiB"));
    }
}
