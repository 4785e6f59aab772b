//! The worst finding on a disk, in any of the checks.

use std::path::PathBuf;

use super::ballast_disk::BallastDisk;
use crate::inspection::Inspection;
use crate::oracle::{Promised, Verdict};
use crate::settings::{Result, Test};

/// The finding.
pub(super) struct WorstFinding {
    pub inspection: Inspection,
    pub promised: Promised,
    /// Which check found it.
    pub check: String,
    /// The copy of the disk.
    pub kept: Option<PathBuf>,
}

impl WorstFinding {
    /// Makes it before any check.
    pub(super) fn new() -> Self {
        let (verdict, check, kept) = (Verdict::Holds, String::new(), None);
        let inspection =
            Inspection { verdict, client: 0, last: None, open_ns: None, message: None };
        Self { inspection, promised: Promised::after(0), check, kept }
    }

    /// Adds a finding on a disk, which is kept if it breaks a promise.
    pub(super) fn add(
        &mut self,
        test: &Test<'_>,
        disk: &BallastDisk,
        inspection: Inspection,
        promised: Promised,
        of: &str,
    ) -> Result<()> {
        if inspection.verdict <= self.inspection.verdict {
            return Ok(());
        }
        if inspection.verdict.is_violation() && test.promises() {
            test.check_room()?;
            let suffix = format!("-{}.img", test.settings.seed);
            let kept = test.violation_path(inspection.verdict, &suffix);
            disk.copy(&kept)?;
            self.kept = Some(kept);
        }
        (self.inspection, self.promised, self.check) = (inspection, promised, of.to_owned());
        Ok(())
    }

    /// Describes it, unless it holds.
    pub(super) fn describe(&self) -> Option<String> {
        let Inspection { verdict, message, .. } = &self.inspection;
        let said = message.as_ref().map(|said| format!(": {said}")).unwrap_or_default();
        (*verdict != Verdict::Holds).then(|| format!("{}{said}", self.check))
    }
}
