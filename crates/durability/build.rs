//! Links debug builds so that they start fast.

#[path = "../../scripts/fixed_address.rs"]
mod fixed_address;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    fixed_address::link();
}
