//! The clocks: what measures time, and whether the time of day is right.

use crate::system::System;

/// Clock sources that a program reads without a system call.
const FAST: [&str; 5] =
    ["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource"];

fn source(system: &System) -> Option<String> {
    system.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Returns the clock source, and whether the time of day is synchronised with another clock.
pub(super) fn describe(system: &System) -> Option<String> {
    let day = if is_synchronised() { "synchronised" } else { "not synchronised" };
    Some(format!("{}, time of day {day}", source(system)?))
}

pub(super) fn warnings(system: &System) -> Vec<String> {
    let slow = source(system).filter(|source| !FAST.contains(&source.as_str()));
    let slow = slow.map(|source| {
        format!(
            "the kernel's clock is '{source}', which an engine reads by a slow system call; find \
             out whether the kernel rejected the CPU's counter as unsteady (dmesg | grep \
             clocksource): embermark measures with that counter"
        )
    });
    let wrong = (!is_synchronised()).then(|| {
        "the time of day is not synchronised, so that results of several devices cannot be put in \
         order; start an NTP client (timedatectl set-ntp true). Durations do not depend on it"
            .to_owned()
    });
    slow.into_iter().chain(wrong).collect()
}

/// Reads what an NTP client has told the kernel (`adjtimex(2)`). In a container it is the host's
/// state.
fn is_synchronised() -> bool {
    // SAFETY: it consists of numbers, and all zeros request no change.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: it lives through the call.
    let answer = unsafe { libc::adjtimex(&mut state) };
    answer != libc::TIME_ERROR
}
