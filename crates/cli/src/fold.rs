//! Text for the terminal in lines that fit it.

/// Columns of a line, as the help has them.
pub const WIDTH: usize = 100;

/// Breaks lines that are too long at their spaces, and indents what is continued. A word that is
/// longer than a line is left whole: it may be a path.
pub fn fold(text: &str, indent: usize) -> String {
    let lines = text.lines().map(|line| fold_line(line, indent));
    lines.collect::<Vec<_>>().join("\n")
}

fn fold_line(line: &str, indent: usize) -> String {
    let mut folded = String::new();
    let mut rest = line.to_owned();
    while let Some(end) = line_end(&rest, indent) {
        let (first, later) = rest.split_at(end);
        folded += first.trim_end();
        folded.push('\n');
        rest = format!("{:indent$}{}", "", later.trim_start());
    }
    folded + &rest
}

/// Where a line that is too long is to be broken: at the last space that fits, else at the first.
fn line_end(line: &str, indent: usize) -> Option<usize> {
    if line.chars().count() <= WIDTH {
        return None;
    }
    let start = indent.max(line.len() - line.trim_start().len());
    let spaces = line
        .char_indices()
        .enumerate()
        .filter_map(|(column, (at, character))| {
            (character == ' ' && column > start).then_some((column, at))
        });
    let spaces: Vec<_> = spaces.collect();
    let fitting = spaces.iter().rev().find(|(column, _)| *column <= WIDTH);
    fitting.or(spaces.first()).map(|&(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_left_alone() {
        assert_eq!(
            fold("  energy     1 J\n  note", 13),
            "  energy     1 J\n  note"
        );
    }

    #[test]
    fn long_lines_break_at_spaces_and_lose_nothing() {
        let text = format!("  note       {}", "wörter und Zahlen 1.5e-3, ".repeat(20));
        let folded = fold(&text, 13);
        assert!(folded.lines().count() > 4);
        assert!(folded.lines().all(|line| line.chars().count() <= WIDTH));
        assert!(
            folded
                .lines()
                .skip(1)
                .all(|line| line.starts_with(&" ".repeat(13)))
        );
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&folded), words(&text));
    }

    #[test]
    fn a_long_word_stays_whole() {
        let path = "/".repeat(150);
        assert_eq!(fold(&path, 2), path);
        assert_eq!(
            fold(&format!("error: {path} is full"), 2),
            format!("error:\n  {path}\n  is full")
        );
    }
}
