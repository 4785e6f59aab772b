//! The clocks: what measures time, and whether the time of day is right.

use crate::system::System;

/// Sources that a program reads without a system call: of others each reading takes about a microsecond.
const FAST: [&str; 5] =
    ["tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource"];

fn source(system: &System) -> Option<String> {
    system.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// The source of time, and whether the time of day is set by another clock.
pub(super) fn described(system: &System) -> Option<String> {
    let day = if is_synchronised() { "synchronised" } else { "not synchronised" };
    Some(format!("{}, time of day {day}", source(system)?))
}

pub(super) fn warnings(system: &System) -> Vec<String> {
    let slow = source(system).filter(|source| !FAST.contains(&source.as_str()));
    let slow = slow.map(|source| {
        format!(
            "time is read from '{source}', which takes a system call of about a microsecond for each \
             operation; see whether the kernel has distrusted a faster one (dmesg | grep clocksource)"
        )
    });
    let wrong = (!is_synchronised()).then(|| {
        "the time of day is not synchronised, so that results of several devices cannot be put in \
         order; start an NTP client (timedatectl set-ntp true). Durations are right without"
            .to_owned()
    });
    slow.into_iter().chain(wrong).collect()
}

/// What the kernel was told by an NTP client (`adjtimex(2)`). A container has its host's.
fn is_synchronised() -> bool {
    // SAFETY: numbers alone, of which all zero asks for nothing to be set.
    let mut state: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: it lives through the call.
    let answer = unsafe { libc::adjtimex(&mut state) };
    answer != libc::TIME_ERROR
}
