//! The counter that the clock reads.

#[cfg(test)]
use std::sync::{Arc, atomic::AtomicU64, atomic::Ordering::Relaxed};

/// A counter whose rate is constant and which is the same in all threads of a process.
#[derive(Clone, Debug)]
pub(crate) enum Counter {
    /// The CPU's own.
    Cpu,
    /// The system's monotonic clock, in ns.
    System,
    #[cfg(test)]
    Simulated(Arc<AtomicU64>),
}

impl Counter {
    /// Returns the CPU's if it is invariant: if it counts at one rate whatever the CPU's frequency and
    /// sleep.
    pub(crate) fn best() -> Self {
        if cpu::is_invariant() { Self::Cpu } else { Self::System }
    }

    #[inline]
    pub(crate) fn read(&self) -> u64 {
        match self {
            Self::Cpu => cpu::read(),
            Self::System => system(),
            #[cfg(test)]
            Self::Simulated(now) => now.load(Relaxed),
        }
    }
}

fn system() -> u64 {
    // It cannot fail: every system that this is compiled for has the clock.
    let now = nix::time::ClockId::CLOCK_MONOTONIC.now();
    now.map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// Intel, *Software Developer's Manual*, volume 3B, 19.17.1 (invariant TSC).
#[cfg(target_arch = "x86_64")]
mod cpu {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    pub(super) fn is_invariant() -> bool {
        const EXTENDED: u32 = 0x8000_0000;
        const POWER_MANAGEMENT: u32 = 0x8000_0007;
        __cpuid(EXTENDED).eax >= POWER_MANAGEMENT && __cpuid(POWER_MANAGEMENT).edx & (1 << 8) != 0
    }

    #[inline]
    pub(super) fn read() -> u64 {
        // SAFETY: every CPU of 64 bits has this instruction, and it changes only two registers.
        unsafe { _rdtsc() }
    }
}

/// Arm, *Architecture Reference Manual*, D12.1.2: the virtual counter has one rate.
#[cfg(target_arch = "aarch64")]
mod cpu {
    pub(super) fn is_invariant() -> bool {
        true
    }

    #[inline]
    pub(super) fn read() -> u64 {
        let ticks;
        // SAFETY: it reads a register that Linux lets every program read.
        unsafe {
            std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod cpu {
    pub(super) fn is_invariant() -> bool {
        false
    }

    pub(super) fn read() -> u64 {
        0
    }
}
