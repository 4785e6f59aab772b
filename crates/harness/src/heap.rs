//! The allocator of this process.

/// Gives memory that was freed back to the system, as far as whole pages of it are free.
#[cfg(target_env = "gnu")]
pub(crate) fn trim() {
    // SAFETY: it touches nothing but free memory of the allocator's own, under its locks.
    unsafe { libc::malloc_trim(0) };
}

/// No other allocator keeps enough to matter.
#[cfg(not(target_env = "gnu"))]
pub(crate) const fn trim() {}
