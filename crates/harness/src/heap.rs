//! The allocator of this process.

/// Returns freed memory to the system, in whole pages.
#[cfg(target_env = "gnu")]
pub(crate) fn trim() {
    // SAFETY: it touches only free memory of the allocator itself, under its locks.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators do not keep enough to matter.
#[cfg(not(target_env = "gnu"))]
pub(crate) const fn trim() {}
