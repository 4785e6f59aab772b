//! Counts lines of code, for the build script and the tests that check it.

/// Lines of a Rust file, as rustfmt leaves it, that are neither blank nor a comment alone nor part of
/// a module for tests; and the names of such modules that are files of their own.
pub fn rust(text: &str) -> (u32, Vec<&str>) {
    let (mut count, mut files) = (0, Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim();
        if code.is_empty() || code.starts_with("//") {
            continue;
        }
        count += 1;
        if code != "#[cfg(test)]" {
            continue;
        }
        // Other attributes may stand between, such as the path of the module.
        let mut ahead = lines.clone();
        let skipped = ahead.by_ref().take_while(|next| next.trim().starts_with("#[")).count();
        let item = lines.clone().nth(skipped).unwrap_or_default().trim();
        let Some(module) = item.strip_prefix("mod ") else { continue };
        count -= 1;
        lines.nth(skipped);
        if let Some(name) = module.strip_suffix(';') {
            files.push(name);
        } else {
            // It ends with the first brace that stands as far from the margin as it began.
            let margin = &line[..line.len() - line.trim_start().len()];
            lines.by_ref().find(|next| next.strip_prefix(margin) == Some("}"));
        }
    }
    (count, files)
}

/// Lines of a C file that are neither blank nor of comments alone.
pub fn c(text: &str) -> u32 {
    let mut within = false;
    let has_code = |line: &&str| {
        let mut rest = line.trim();
        let mut found = false;
        while !rest.is_empty() {
            if within {
                let Some((_, after)) = rest.split_once("*/") else { break };
                (within, rest) = (false, after.trim());
            } else if rest.starts_with("//") {
                break;
            } else if let Some((before, after)) = rest.split_once("/*") {
                found |= !before.is_empty();
                (within, rest) = (true, after);
            } else {
                return true;
            }
        }
        found
    };
    text.lines().filter(has_code).count() as u32
}
