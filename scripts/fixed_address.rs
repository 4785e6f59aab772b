//! Links the programs of a debug build to a fixed address.
//!
//! Such a program has some 190,000 addresses in its tables of functions, because its crates call each other through
//! them. Where it is loaded to any address, each start writes all of them: 7 ms, two thirds of the time that a worker
//! needs to begin, and every trial of every test begins with one. A release build has far fewer, and keeps being loaded
//! to any address, which makes it harder to attack.

use std::env;

/// Makes cargo link the programs and tests of the crate that is built in this way, in a debug build.
pub fn link() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|known| known == value);
    println!("cargo:rerun-if-changed=../../scripts/fixed_address.rs");
    if is("PROFILE", "debug")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo:rustc-link-arg=-no-pie");
    }
}
