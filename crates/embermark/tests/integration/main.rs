//! Runs the program as a user does.

#![allow(clippy::unwrap_used, reason = "a test has nobody to hand an error to")]

mod arrivals;
mod bad_input;
mod client_columns;
mod client_programs;
mod clients;
mod clients_of;
mod common;
mod compare;
mod configurations;
mod counting;
mod doctor;
mod documents;
mod durability;
mod energy;
mod engine_library;
mod engines;
mod explaining;
mod exports;
mod faults;
mod flash;
mod fleet;
mod footprint;
mod given;
mod hostile;
mod machine;
mod machine_ends;
mod many_results;
mod memory;
mod mutated;
mod network;

mod package;
mod questions;
mod repeat;
mod report;
mod resume;
mod retention;
mod run;
mod run_ends;
mod secrets;
mod site;
mod storage;
mod storage_command;
mod tune;
mod untrusted_sql;
mod verify;
mod wording;
mod workload_files;
