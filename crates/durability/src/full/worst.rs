//! The worst finding on a disk, in any of the checks.

use std::path::PathBuf;

use super::space::Space;
use crate::look::Looked;
use crate::oracle::{Promised, Verdict};
use crate::settings::{Test, TestError};

/// The finding.
pub(super) struct Worst {
    pub looked: Looked,
    pub promised: Promised,
    /// Which check found it.
    pub of: String,
    /// The copy of the disk.
    pub kept: Option<PathBuf>,
}

impl Worst {
    /// Makes it before any check.
    pub(super) fn nothing(promised: Promised) -> Self {
        let (verdict, of, kept) = (Verdict::Holds, String::new(), None);
        let looked = Looked { verdict, client: 0, last: None, open_ns: None, message: None };
        Self { looked, promised, of, kept }
    }

    /// Adds a finding on a disk, which is kept if it breaks a promise.
    pub(super) fn add(
        &mut self,
        test: &Test<'_>,
        space: &Space,
        looked: Looked,
        promised: Promised,
        of: &str,
    ) -> Result<(), TestError> {
        if looked.verdict <= self.looked.verdict {
            return Ok(());
        }
        if looked.verdict.is_violation() && test.promises() {
            let mut kept = test.kept_as(looked.verdict).into_os_string();
            kept.push(format!("-{}.img", test.settings.seed));
            let kept = PathBuf::from(kept);
            space.copy(&kept)?;
            self.kept = Some(kept);
        }
        (self.looked, self.promised, self.of) = (looked, promised, of.to_owned());
        Ok(())
    }

    /// Describes it, unless it holds.
    pub(super) fn found(&self) -> Option<String> {
        let Looked { verdict, message, .. } = &self.looked;
        let said = message.as_ref().map(|said| format!(": {said}")).unwrap_or_default();
        (*verdict != Verdict::Holds).then(|| format!("{}{said}", self.of))
    }
}
