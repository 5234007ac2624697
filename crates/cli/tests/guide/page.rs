//! Pages and their console blocks.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A page with the commands on it.
pub struct Page {
    path: PathBuf,
    lines: Vec<String>,
    /// In the order of the page.
    pub sessions: Vec<Session>,
}

/// A command and what the page says it prints.
pub struct Session {
    /// The command, its continued lines joined by line breaks.
    pub command: String,
    /// Without blank lines at its ends; empty where all is left out.
    pub output: Vec<String>,
    /// Line of the command on the page, from one.
    pub line: usize,
    /// Lines of the output on the page, from zero.
    range: Range<usize>,
}

/// A fence of a block of code, and what kind of block it begins.
pub fn fence(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("```")
}

/// A word such as `append=arm.toml` behind the language of a block.
pub fn setting<'l>(info: &'l str, key: &str) -> Option<&'l str> {
    let mut words = info.split_whitespace().skip(1);
    words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// The lines of a block whose fence is at a place, and where its other fence is.
pub fn block(lines: &[String], begin: usize) -> (&[String], usize) {
    let rest = &lines[begin + 1..];
    let length = rest.iter().position(|line| fence(line).is_some());
    let end = begin + 1 + length.expect("a block that ends");
    (&lines[begin + 1..end], end)
}

impl Page {
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut sessions = Vec::new();
        let mut kind = None;
        let mut position = 0;
        while position < lines.len() {
            let line = &lines[position];
            if let Some(after) = fence(line) {
                if let (None, Some(file)) = (kind, setting(after, "append")) {
                    let (text, end) = block(&lines, position);
                    sessions.push(Session {
                        command: format!("cat >> {file} <<'END'\n{}\nEND", text.join("\n")),
                        output: Vec::new(),
                        line: position + 1,
                        range: end..end,
                    });
                    position = end + 1;
                    continue;
                }
                kind = match kind {
                    None => Some(after),
                    Some(_) => None,
                };
                position += 1;
                continue;
            }
            // In a block for the shell, commands stand without a prompt, and no output follows.
            let prompted = line.strip_prefix("$ ").filter(|_| kind == Some("console"));
            let plain =
                (kind == Some("sh") && line.starts_with("oldham ")).then_some(line.as_str());
            let Some(first) = prompted.or(plain) else {
                position += 1;
                continue;
            };
            let start = position;
            let mut command = first.to_owned();
            while command.ends_with('\\') {
                position += 1;
                command.push('\n');
                command.push_str(&lines[position]);
            }
            position += 1;
            let begin = position;
            if prompted.is_some() {
                while fence(&lines[position]).is_none() && !lines[position].starts_with("$ ") {
                    position += 1;
                }
            }
            let range = trimmed(&lines, begin..position);
            sessions.push(Session {
                command,
                output: lines[range.clone()]
                    .iter()
                    .map(|line| line.trim_end().to_owned())
                    .collect(),
                line: start + 1,
                range,
            });
        }
        Self {
            path: path.to_owned(),
            lines,
            sessions,
        }
    }

    /// Its path below the root of the repository.
    pub fn name(&self, root: &Path) -> String {
        self.path
            .strip_prefix(root)
            .unwrap_or(&self.path)
            .display()
            .to_string()
    }

    /// Replaces the outputs of some sessions, in the order of the page.
    pub fn rewrite(&mut self, changed: &[(usize, Vec<String>)]) {
        for (index, output) in changed.iter().rev() {
            let range = self.sessions[*index].range.clone();
            self.lines.splice(range, output.iter().cloned());
        }
        fs::write(&self.path, self.lines.join("\n") + "\n").unwrap();
    }
}

fn trimmed(lines: &[String], mut range: Range<usize>) -> Range<usize> {
    while !range.is_empty() && lines[range.start].trim().is_empty() {
        range.start += 1;
    }
    while !range.is_empty() && lines[range.end - 1].trim().is_empty() {
        range.end -= 1;
    }
    range
}
