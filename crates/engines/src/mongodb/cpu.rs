//! CPU requirements of MongoDB's server.

/// Returns what this CPU lacks for a server of this version. Such a server dies of an illegal
/// instruction when it starts.
///
/// Since 5.0 it needs AVX on x86-64, and ARM v8.2-A on 64-bit ARM
/// (<https://www.mongodb.com/docs/manual/administration/production-notes/#platform-support-notes>).
/// Of v8.2-A's additions to v8.0, compilers use the atomic instructions (LSE) everywhere.
pub(super) fn lacks(version: &str) -> Option<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let (has, what) = (std::arch::is_x86_feature_detected!("avx"), "AVX");
    #[cfg(target_arch = "aarch64")]
    let (has, what) = (std::arch::is_aarch64_feature_detected!("lse"), "ARM v8.2-A");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let (has, what) = (true, "");
    (!has && needs_them(version)).then_some(what)
}

fn needs_them(version: &str) -> bool {
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major >= 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_since_5_0_need_more_of_a_cpu() {
        assert!(needs_them("5.0.3") && needs_them("8.0.1") && needs_them("10.0.0"));
        assert!(!needs_them("4.4.29") && !needs_them("unknown"));
    }
}
