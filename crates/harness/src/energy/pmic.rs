//! The power chip of a Raspberry Pi 5, read by its firmware's `vcgencmd pmic_read_adc`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::program;

/// Program of the firmware.
pub(super) const PROGRAM: &str = "vcgencmd";

/// Reads the current watts.
///
/// # Errors
/// If the program is not installed or does not know the command.
pub(super) fn watts(program: &Path) -> Result<f64, String> {
    let said = program::output(program, &["pmic_read_adc"])?;
    let text = String::from_utf8_lossy(&said.stdout);
    parse(&text).ok_or_else(|| {
        let line = text.lines().next().unwrap_or_default().trim();
        let line = if line.is_empty() { "nothing" } else { line };
        format!(
            "{} has no pmic_read_adc, which a Raspberry Pi 5 has (its answer: {line})",
            program.display()
        )
    })
}

/// Returns the sum of current times voltage over the rails that have both: `VDD_CORE_A
/// current(7)=1.08A` and `VDD_CORE_V volt(15)=0.72V`. The 5 V input and the battery have only a
/// voltage.
fn parse(text: &str) -> Option<f64> {
    let values = text.lines().filter_map(|line| {
        let (name, value) = line.split_once('=')?;
        let number = value.trim().trim_end_matches(['A', 'V']).parse::<f64>().ok()?;
        Some((name.split_whitespace().next()?, number))
    });
    let values: BTreeMap<&str, f64> = values.collect();
    let products = values.iter().filter_map(|(name, current)| {
        let voltage = format!("{}_V", name.strip_suffix("_A")?);
        Some(current * values.get(&*voltage)?)
    });
    products.reduce(|sum, watts| sum + watts)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::energy::source::Source;

    const SAID: &str = "\
 3V7_WL_SW_A current(0)=0.10000000A
   3V3_SYS_A current(1)=0.20000000A
  VDD_CORE_A current(7)=1.50000000A
      HDMI_A current(21)=0.01000000A
 3V7_WL_SW_V volt(8)=3.70000000V
   3V3_SYS_V volt(9)=3.30000000V
  VDD_CORE_V volt(15)=0.80000000V
      HDMI_V volt(23)=5.00000000V
     EXT5V_V volt(24)=5.10000000V
      BATT_V volt(25)=0.00000000V
";

    fn program(folder: &Path, script: &str) -> std::path::PathBuf {
        let path = folder.join("vcgencmd");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn its_rails_are_added_up_and_a_voltage_alone_is_no_power() {
        let watts = parse(SAID).unwrap();
        assert!((watts - (0.37 + 0.66 + 1.2 + 0.05)).abs() < 1e-9, "{watts}");
        assert_eq!(parse("error=1 error_msg=\"Command not registered\""), None);
        assert_eq!(parse("EXT5V_V volt(24)=5.1V\n"), None);
    }

    #[test]
    fn a_board_without_the_chip_and_a_machine_without_the_program_are_no_source() {
        let folder = tempfile::tempdir().unwrap();
        let here = program(folder.path(), &format!("cat <<END\n{SAID}END"));
        let about = Source::pmic(&here).unwrap().about;
        assert!(about.contains("5 V rails"), "{about}");
        assert!(watts(&here).is_ok());
        let older =
            program(folder.path(), "echo 'error=1 error_msg=\"Command not registered\"'; exit 255");
        let why = watts(&older).unwrap_err();
        assert!(why.contains("has no pmic_read_adc") && why.contains("not registered"), "{why}");
        let none = folder.path().join("none");
        let why = watts(&none).unwrap_err();
        assert!(why.starts_with("no "), "{why}");
    }
}
