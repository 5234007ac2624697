//! `include`: a model in several files.
//!
//! What a file says itself goes over what it includes. Two included files may not say different things,
//! unless the file that includes them decides.

use std::path::{Component, Path, PathBuf};

use toml::de::DeTable;

use super::INCLUDE;
use crate::limits::MAX_BYTES;
use crate::problem::{Findings, Problem};
use crate::read::{self, syntax};
use crate::source::{Source, Span};
use crate::suggest::nearest;
use crate::tree::{Clash, put_over, shifted_table, table_in, take_texts};

/// Most files of one model.
const MAX_FILES: usize = 1000;

/// Files that include each other, at most so deep.
const MAX_CHAIN: usize = 50;

/// A file that is asked for.
struct Wanted {
    /// As written.
    written: String,
    /// Seen from the folder of the model file.
    path: String,
    span: Span,
}

/// Reads all files that a model includes, from the folder of the model file. What cannot be read is a
/// problem.
pub(crate) fn gather(source: &mut Source, folder: &Path, findings: &mut Findings) {
    // The files that are still to be searched, each with its path.
    let mut files = vec![(String::new(), 0..source.file_text().len())];
    let (mut next, mut bytes) = (0, files[0].1.len() as u64);
    while let Some((path, place)) = files.get(next).cloned() {
        next += 1;
        for wanted in wanted_of(source, &path, &place) {
            if wanted.path.is_empty() || source.file_at(&wanted.path).is_some() {
                continue;
            }
            let at = folder.join(&wanted.path);
            let refuse = |message: String| {
                let message = format!("`{}` cannot be included: {message}", wanted.written);
                Problem::new(wanted.span.clone(), message).label("included here")
            };
            if files.len() == MAX_FILES {
                findings.push(refuse(format!("a model has at most {MAX_FILES} files")));
                return;
            }
            let text = match read::text_of(&at) {
                Ok(text) => text,
                Err(message) => {
                    findings.push(refuse(message.to_string()).help(beside(&at)));
                    continue;
                }
            };
            bytes += text.len() as u64;
            if bytes > MAX_BYTES {
                let limit = MAX_BYTES >> 20;
                findings.push(refuse(format!(
                    "all files together are longer than {limit} MiB"
                )));
                return;
            }
            let name = at.display().to_string();
            let span = source.add_file(name, wanted.path.clone(), &text);
            files.push((wanted.path, span));
        }
    }
}

/// Where the file was looked for, and what is there.
fn beside(at: &Path) -> String {
    let here = Path::new(".");
    let folder = at.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(here);
    let name = at.file_name().unwrap_or_default().to_string_lossy();
    let files = std::fs::read_dir(folder).into_iter().flatten();
    let names: Vec<String> = files
        .filter_map(|file| Some(file.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.ends_with(".toml"))
        .collect();
    match nearest(&name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "paths start at the folder of the file that includes; it was looked for in {}",
            folder.display()
        ),
    }
}

/// What a file includes, as far as that can be read; its mistakes are reported elsewhere.
fn wanted_of(source: &Source, path: &str, place: &Span) -> Vec<Wanted> {
    let text = source.slice(place.clone());
    if !text.contains(INCLUDE) || crate::limits::check(text).is_err() {
        return Vec::new();
    }
    let (tree, _) = DeTable::parse_recoverable(text);
    let mut tree = shifted_table(tree.into_inner(), place.start);
    take_wanted(&mut tree, path, &mut Findings::default())
}

/// Takes the key out of a tree. The path is that of the file, seen from the folder of the model file.
fn take_wanted(tree: &mut DeTable<'_>, path: &str, findings: &mut Findings) -> Vec<Wanted> {
    let wanted = take_texts(tree, INCLUDE, |span| {
        let message = format!("`{INCLUDE}` is the path of a file, or a list of paths");
        findings
            .report(&span, message)
            .label("no path")
            .help("such as include = \"parts/wheel.toml\"");
    });
    let wanted = wanted.into_iter().map(|(written, span)| Wanted {
        path: joined(path, &written),
        written,
        span,
    });
    wanted.collect()
}

/// A path written in a file, seen from the folder of the model file, without detours.
fn joined(file: &str, written: &str) -> String {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for component in folder.join(written).components() {
        let is_inside = matches!(path.components().next_back(), Some(Component::Normal(_)));
        match component {
            Component::CurDir => {}
            Component::ParentDir if is_inside => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path.to_string_lossy().replace('\\', "/")
}

/// The tree of a model file with everything that it includes; nothing if one of them is no TOML.
pub(crate) fn tree<'s>(source: &'s Source, findings: &mut Findings) -> Option<DeTable<'s>> {
    let mut join = Joining {
        source,
        findings,
        chain: Vec::new(),
        done: Vec::new(),
    };
    join.file(String::new(), 0..source.file_text().len())
}

struct Joining<'s, 'f> {
    source: &'s Source,
    findings: &'f mut Findings,
    /// The files that are being joined, each included by the one before it.
    chain: Vec<(String, Span)>,
    /// Paths of the files that are joined.
    done: Vec<String>,
}

impl<'s> Joining<'s, '_> {
    fn file(&mut self, path: String, place: Span) -> Option<DeTable<'s>> {
        let own = syntax(self.source, &place, self.findings);
        let mut own = own?;
        let wanted = take_wanted(&mut own, &path, self.findings);
        let mut tree = Some(DeTable::new());
        self.chain.push((path, place));
        for wanted in wanted {
            let Some(found) = self.found(&wanted) else {
                continue;
            };
            let included = self.file(wanted.path.clone(), found);
            tree = tree.zip(included).map(|(mut tree, included)| {
                self.join(&mut tree, included, &own);
                tree
            });
        }
        let (path, _) = self.chain.pop().expect("pushed above");
        self.done.push(path);
        let mut tree = tree?;
        put_over(&mut tree, own, &mut |_| {});
        Some(tree)
    }

    /// Where a file lies that is to be joined: once, and in no loop.
    fn found(&mut self, wanted: &Wanted) -> Option<Span> {
        let starts = self.chain.iter().position(|(path, _)| *path == wanted.path);
        let is_itself = || {
            let own = Path::new(self.source.name()).file_name();
            own.is_some()
                && own == Path::new(&wanted.path).file_name()
                && !wanted.path.contains('/')
        };
        let starts = starts.or_else(|| is_itself().then_some(0));
        if let Some(first) = starts {
            let name = |(_, place): &(String, Span)| self.source.locate(place).name.to_owned();
            let files = self.chain[first..].iter().chain([&self.chain[first]]);
            let chain: Vec<String> = files.map(name).collect();
            let message = format!(
                "the files include each other in a loop: {}",
                chain.join(" → ")
            );
            let problem = Problem::new(wanted.span.clone(), message).label("closes the loop");
            let help = "take this path away, or move what both files need into a third one";
            self.findings.push(problem.help(help));
            return None;
        }
        if self.done.contains(&wanted.path) {
            return None;
        }
        if self.chain.len() == MAX_CHAIN {
            let message = format!("files include each other more than {MAX_CHAIN} deep");
            self.findings
                .report(&wanted.span, message)
                .label("included here")
                .help("include all files in one");
            return None;
        }
        let found = self.source.file_at(&wanted.path);
        if found.is_none() {
            let message = format!("`{}` is not there to be included", wanted.written);
            let problem = Problem::new(wanted.span.clone(), message).label("included here");
            let help = "a model that is no file of its own can include only what is given with it";
            self.findings.push(problem.help(help));
        }
        found
    }

    /// Adds an included file to those before it.
    fn join(&mut self, tree: &mut DeTable<'s>, included: DeTable<'s>, own: &DeTable<'s>) {
        let (source, findings) = (self.source, &mut *self.findings);
        put_over(tree, included, &mut |clash: Clash<'_>| {
            if decides(own, clash.path) {
                return;
            }
            let path = clash.path.join(".");
            let first = source.locate(&clash.under);
            let message = format!("two included files give `{path}`: this one and {first}");
            let problem = Problem::new(clash.over, message).label("given twice");
            let help = format!("give `{path}` in the file that includes them, which decides");
            findings.push(problem.help(help));
        });
    }
}

/// Whether a tree says what stands at a path.
fn decides(tree: &DeTable<'_>, path: &[String]) -> bool {
    let Some((key, rest)) = path.split_first() else {
        return true;
    };
    match table_in(tree, key) {
        Some(inside) if !rest.is_empty() => decides(inside, rest),
        _ => tree.contains_key(key.as_str()),
    }
}
