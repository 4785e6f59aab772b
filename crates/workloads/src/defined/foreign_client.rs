//! A client program in another language, which works on the same database.

use std::rc::Rc;

use embermark_clients::{Process, Program, Tape};
use embermark_contract::{ConnectionParameters, EngineError, Result};

use crate::Companions;

/// Role of its process.
pub(super) const ROLE: &str = "client";

/// A client program that works on the same database.
pub(super) struct ForeignClient {
    program: Program,
    companions: Rc<dyn Companions>,
    pub tape: Tape,
    /// Connection parameters of the program.
    pub connection: ConnectionParameters,
    /// Settings that keep the durability tier, as this process read them.
    pub tier: Vec<(String, String)>,
    /// Its process. Started with the first phase.
    pub process: Option<Process>,
}

impl ForeignClient {
    pub(super) fn new(
        program: Program,
        companions: Rc<dyn Companions>,
        tape: Tape,
        (connection, tier): (ConnectionParameters, Vec<(String, String)>),
    ) -> Self {
        Self { program, companions, tape, connection, tier, process: None }
    }

    /// Compares the settings that the program read back with those that keep the tier here.
    pub(super) fn check_tier_settings(&self, settings: &[(String, String)]) -> Result<()> {
        for (name, own) in &self.tier {
            let theirs = settings.iter().find(|(known, _)| known == name).map(|(_, value)| value);
            if let Some(theirs) = theirs.filter(|theirs| !theirs.eq_ignore_ascii_case(own)) {
                let what = format!("{name} is {theirs} there, and {own} here");
                return Err(EngineError::failed("the client", "keep the durability tier", what));
            }
        }
        Ok(())
    }

    /// Returns the process, and starts it if it is not running.
    pub(super) fn process(&mut self) -> Result<&mut Process> {
        if self.process.is_none() {
            let child = self.companions.start(ROLE, &self.program.task(), None);
            let child = child.map_err(|error| EngineError::failed("the client", "start", error))?;
            self.process = Some(Process::load(child, &self.program)?);
        }
        self.process
            .as_mut()
            .ok_or_else(|| EngineError::failed("the client", "start", "it is not there"))
    }
}
