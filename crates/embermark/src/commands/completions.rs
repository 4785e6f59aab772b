//! `embermark completions` and `embermark man`: what a package installs with the program.

use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;
use embermark_model::choice;

use crate::error::Failure;
use crate::output;

/// The arguments of `embermark completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the shell script that completes the commands and options of `program`.
pub fn completions(args: &CompletionsArgs, program: Command) -> Result<ExitCode, Failure> {
    // Without this filter, the scripts would offer hidden commands.
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown = Command::new("embermark").subcommands(shown.cloned()).version("");
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shown, "embermark", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// The arguments of `embermark man`.
#[derive(Args)]
pub struct ManArgs {
    /// The command, with its subcommand if it has one: `run`, `fleet run`
    command: Vec<String>,
}

/// Prints the manual page of `program` or of one of its commands.
pub fn man(args: &ManArgs, mut program: Command) -> Result<ExitCode, Failure> {
    // This gives each command its full name.
    program.build();
    let mut of = program;
    for name in &args.command {
        let shown = || of.get_subcommands().filter(|command| !command.is_hide_set());
        if shown().next().is_none() {
            return Err(usage!("`{}` has no command '{name}': leave it out", of.get_name()));
        }
        let found = shown().find(|command| command.get_name() == name).ok_or_else(|| {
            Failure::usage(choice::unknown("command", name, shown().map(Command::get_name)))
        })?;
        let whole = found.get_display_name().unwrap_or(name).to_owned();
        of = found.clone().name(whole);
    }
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(of).render(&mut page);
    written.map_err(Failure::runtime)?;
    output::print(&String::from_utf8_lossy(&page))
}
