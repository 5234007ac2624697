//! A cut that was found goes into the model file.

use std::path::Path;

use super::{CutSearch, PartitionError, SearchedCut};
use crate::{ModelFile, StudyError, mechanisms};

/// Adds the section of a cut to the end of a model file and leaves everything before as it is, byte for byte. The file with the
/// section must read; else it stays as it was.
pub fn write_cut(
    path: &Path,
    file: &ModelFile,
    search: &CutSearch,
    cut: &SearchedCut,
) -> Result<(), StudyError> {
    let refused = |section: &str, reason: String| {
        StudyError::from(PartitionError::NotWritten {
            path: path.to_owned(),
            reason,
            section: section.to_owned(),
        })
    };
    let section = section(search, cut);
    let before = std::fs::read(path).map_err(|error| refused(&section, error.to_string()))?;
    let ending = match before.windows(2).any(|pair| pair == b"\r\n") {
        true => "\r\n",
        false => "\n",
    };
    let mut after = before.clone();
    if !matches!(before.last(), None | Some(b'\n')) {
        after.extend_from_slice(ending.as_bytes());
    }
    after.extend_from_slice(ending.as_bytes());
    after.extend_from_slice(section.replace('\n', ending).as_bytes());
    // Beside the model, so that files which it names are found.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.toml", std::process::id()));
    let aside = path.with_file_name(name);
    let tried = std::fs::write(&aside, &after)
        .map_err(|error| error.to_string())
        .and_then(|()| {
            let permissions = std::fs::metadata(path).map(|it| it.permissions());
            let kept = permissions.and_then(|it| std::fs::set_permissions(&aside, it));
            kept.map_err(|error| error.to_string())
        })
        .and_then(|()| reads_as_cut(&aside, file, search))
        .and_then(|()| std::fs::rename(&aside, path).map_err(|error| error.to_string()));
    tried.map_err(|reason| {
        let _ = std::fs::remove_file(&aside);
        refused(&section, reason)
    })
}

/// Whether a file reads and its mechanism is cut.
fn reads_as_cut(path: &Path, file: &ModelFile, search: &CutSearch) -> Result<(), String> {
    let written = ModelFile::new(path).with(file.settings());
    let model = written.read().map_err(|problems| problems.to_string())?;
    let all = mechanisms(&model).map_err(|error| error.to_string())?;
    let is_cut = all
        .iter()
        .any(|it| it.name() == search.mechanism && it.partition().is_some());
    match is_cut {
        true => Ok(()),
        false => Err(format!("`{}` is not cut by it", search.mechanism)),
    }
}

/// The section with what is expected of it.
fn section(search: &CutSearch, cut: &SearchedCut) -> String {
    let expected = &cut.expected;
    let source = match search.costs.measured {
        true => "measured costs",
        false => "costs estimated by matrix entries",
    };
    let [at, parts] = cut.cut.lines();
    format!(
        "# Found by `oldham partition --parts {}`, by {source}: {:.2} times faster than uncut with a core for each part.\n\
         # Of a step the largest part takes {:.3} us, the coupling {:.3} us and the exchange {:.3} us.\n\
         {}\n{at}\n{parts}\n",
        search.parts,
        expected.speed_up,
        expected.largest,
        expected.coupling,
        expected.exchange,
        cut.cut.header(),
    )
}
