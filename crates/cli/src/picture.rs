//! Files that commands write beside results: what they may not replace.

use std::fs;
use std::path::Path;

use crate::failure::Failure;

/// Refuses to write over what a command reads, or over any other model. Other files that are
/// there are from an earlier call, and are replaced.
pub fn protect(target: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(there) = real(target) else {
        return Ok(());
    };
    let is_input = inputs
        .iter()
        .any(|input| real(input).as_ref() == Some(&there));
    if is_input || is_model(&there) {
        return Err(Failure::WouldReplace {
            path: target.to_owned(),
        });
    }
    Ok(())
}

/// Whether a file reads like a model: TOML with a section that only models have.
fn is_model(path: &Path) -> bool {
    const MOST_BYTES: u64 = 64 << 20;
    let Ok(metadata) = fs::metadata(path) else {
        return false;
    };
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return false;
    }
    let text = fs::read_to_string(path).unwrap_or_default();
    const SECTIONS: [&str; 4] = ["simulation", "lumped", "multibody", "hydraulics"];
    text.lines().any(|line| {
        let section = line.trim_start().strip_prefix('[');
        let name = section.and_then(|rest| rest.split(['.', ']']).next());
        name.is_some_and(|name| SECTIONS.contains(&name.trim()))
    })
}
