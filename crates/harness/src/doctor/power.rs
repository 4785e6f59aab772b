//! The power supply.

use crate::system::{System, read};
use crate::throttle;

/// Describes what supplies the machine, if it reports that.
pub(super) fn describe(system: &System) -> Option<String> {
    let supplies = system.entries("sys/class/power_supply").into_iter().filter_map(|supply| {
        let text = |file: &str| read(&supply.join(file));
        // A mouse has a battery too.
        if text("scope").as_deref() == Some("Device") {
            return None;
        }
        match text("type")?.as_str() {
            "Battery" => {
                let charge = text("capacity").map_or(String::new(), |part| format!(" {part} %"));
                let status = text("status").unwrap_or_default().to_lowercase();
                Some(format!("battery{charge}, {status}"))
            }
            "Mains" | "USB" => {
                let supplies = text("online").is_some_and(|online| online != "0");
                Some(if supplies { "plugged in" } else { "not plugged in" }.to_owned())
            }
            _ => None,
        }
    });
    let mut said: Vec<String> = supplies.collect();
    said.dedup();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Returns what a Raspberry Pi's firmware has detected since boot.
pub(super) fn warnings(system: &System) -> Option<String> {
    let seen = throttle::since_boot(system)?;
    Some(format!(
        "the firmware reports that since the machine started {seen}: take a stronger power supply, a \
         shorter cable, or cool it"
    ))
}
