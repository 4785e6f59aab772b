//! The limits of a machine in words.

use super::Machine;

impl Machine {
    /// The limits of a container or a service that the run was under, `512 MB of memory, 1.5 CPUs`; `None`
    /// where nothing limited it.
    pub fn limits_in_words(&self) -> Option<String> {
        let words = self.limits.iter().map(|(name, value)| match name.as_str() {
            "memory.max" => memory(value),
            "cpu.max" => cpus(value),
            _ => None,
        });
        let words: Option<Vec<String>> = words.collect();
        words.map(|words| words.join(", ")).filter(|words| !words.is_empty())
    }
}

fn memory(bytes: &str) -> Option<String> {
    Some(format!("{} MB of memory", bytes.parse::<u64>().ok()? / 1_000_000))
}

/// Of a quota and a period.
fn cpus(max: &str) -> Option<String> {
    let (quota, period) = max.split_once(' ')?;
    let cpus = quota.parse::<f64>().ok()? / period.parse::<f64>().ok().filter(|of| *of > 0.0)?;
    let cpus = (cpus * 100.0).round() / 100.0;
    Some(format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_in_words_and_rubbish_is_not() {
        let said = |limits: &[(&str, &str)]| {
            let limits = limits.iter().map(|(name, value)| (name.to_string(), value.to_string()));
            Machine { limits: limits.collect(), ..Machine::default() }.limits_in_words()
        };
        let both = [("memory.max", "512000000"), ("cpu.max", "150000 100000")];
        assert_eq!(said(&both).unwrap(), "1.5 CPUs, 512 MB of memory");
        assert_eq!(said(&[("cpu.max", "100000 100000")]).unwrap(), "1 CPU");
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[("memory.max", "<script>")]), None);
    }
}
