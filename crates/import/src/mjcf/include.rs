//! Files that include others.

use std::path::{Component, Path};

use crate::error::ImportError;
use crate::xml;

/// Files in one another.
const DEEPEST: usize = 12;
/// Bytes of all of them together.
const MOST: usize = 64 << 20;

/// The text with all that it includes in the place of <include>; nothing where it includes nothing.
pub(crate) fn expanded(text: &str, path: &Path) -> Result<Option<String>, ImportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut bytes = text.len();
    let whole = expand(text, folder, 0, &mut bytes)?;
    Ok((whole != text).then_some(whole))
}

fn expand(
    text: &str,
    folder: &Path,
    depth: usize,
    bytes: &mut usize,
) -> Result<String, ImportError> {
    let document = xml::parse(text)?;
    let mut places = Vec::new();
    for node in document
        .descendants()
        .filter(|node| node.has_tag_name("include"))
    {
        let Some(file) = node.attribute("file") else {
            return Err(ImportError::at(node, "<include> has no `file`"));
        };
        let path = Path::new(file);
        let is_within = path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_within {
            let message =
                format!("`{file}` leads out of the folder of the file: it is not included");
            return Err(ImportError::at(node, message));
        }
        if depth >= DEEPEST {
            let message = format!("files include each other more than {DEEPEST} deep");
            return Err(ImportError::at(node, message));
        }
        let path = folder.join(path);
        let inner = oldham_files::read_text(&path, crate::MAX_BYTES).map_err(|error| {
            ImportError::at(
                node,
                format!("{} cannot be included: {error}", path.display()),
            )
        })?;
        *bytes += inner.len();
        if *bytes > MOST {
            return Err(ImportError::at(
                node,
                "all included files together are larger than 64 MiB",
            ));
        }
        let inner = expand(&inner, folder, depth + 1, bytes)
            .map_err(|error| ImportError::at(node, format!("in {file}: {error}")))?;
        places.push((node.range(), content(&inner)?));
    }
    let mut whole = text.to_owned();
    for (range, inner) in places.into_iter().rev() {
        whole.replace_range(range, &inner);
    }
    Ok(whole)
}

/// What stands within the first element.
fn content(text: &str) -> Result<String, ImportError> {
    let document = xml::parse(text)?;
    let root = document.root_element();
    let ends = root.first_child().zip(root.last_child());
    Ok(ends.map_or_else(String::new, |(first, last)| {
        text[first.range().start..last.range().end].to_owned()
    }))
}
