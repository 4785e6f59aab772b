//! Removes the secrets of a server's URL from messages of its client, the server or a worker,
//! before any of them is shown or kept.

use std::path::Path;
use std::{fs, io};

use embermark_model::result::Trial;
use embermark_model::url::Secrets;

/// Removes secrets from the reasons of a trial.
pub(crate) fn redact(trial: &mut Trial, secrets: &Secrets, engine: &str) {
    let of_phases = trial.phases.iter_mut().map(|part| &mut part.reason);
    for reason in [&mut trial.reason].into_iter().chain(of_phases).flatten() {
        *reason = secrets.redact(engine, reason);
    }
}

/// Removes secrets from a log. Does nothing if the log does not exist or has none.
pub(crate) fn redact_log(log: &Path, secrets: &Secrets) -> io::Result<()> {
    let text = match fs::read(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text?,
    };
    let text = String::from_utf8_lossy(&text);
    let hidden = secrets.redact("", &text);
    if hidden == text { Ok(()) } else { fs::write(log, hidden) }
}

#[cfg(test)]
mod tests {
    use embermark_model::ServerUrl;
    use embermark_model::result::PhaseResult;

    use super::*;

    #[test]
    fn the_reasons_of_a_trial_and_its_log_keep_no_secret() {
        let secrets = ServerUrl::from("mysql://ann:hunter2@h/x").secrets();
        let says = || Some("mariadb could not connect: ann, hunter2".to_owned());
        let phases = vec![PhaseResult { reason: says(), ..PhaseResult::default() }];
        let mut trial = Trial { reason: says(), phases, ..Trial::default() };
        redact(&mut trial, &secrets, "mariadb");
        let hidden = Some("mariadb could not connect: ***, ***");
        assert_eq!((trial.reason.as_deref(), trial.phases[0].reason.as_deref()), (hidden, hidden));

        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        redact_log(&log, &secrets).unwrap();
        assert!(!log.exists());
        fs::write(&log, "panicked at mysql://ann:hunter2@h/x\n").unwrap();
        redact_log(&log, &secrets).unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap(), "panicked at ***\n");
    }
}
