//! Whether an output is the one that a page shows, times masked and lines left out.

/// What stands for left-out lines.
const LEFT_OUT: &str = "...";

/// Numbers below this are rounding errors, which another processor makes differently.
const ROUNDING: f64 = 1e-11;
/// Numbers differ by no more than this part of them, or by a unit of the last digit printed.
const SAME: f64 = 1e-6;

/// Whether an output is the one shown.
pub fn matches(shown: &[String], said: &[String]) -> bool {
    // Nothing but dots shows nothing.
    if shows_nothing(shown) {
        return false;
    }
    let (shown, said) = (lasting(shown), lasting(&without_blank_ends(said)));
    aligned(&shown, &said)
}

/// The first line that differs, for people.
pub fn first_difference(shown: &[String], said: &[String]) -> String {
    let (shown, said) = (lasting(shown), lasting(&without_blank_ends(said)));
    // The longest beginning of what is shown that some beginning of the output goes with.
    let open: Vec<String> = vec![LEFT_OUT.into()];
    let fits = |count: &usize| aligned(&[&shown[..*count], &open].concat(), &said);
    match (0..=shown.len()).rev().find(fits) {
        Some(count) if count < shown.len() => format!("not found: {}", shown[count]),
        _ => "more is said than shown".into(),
    }
}

/// The output as a page would show it: lines that the page leaves out are left out.
pub fn renewed(shown: &[String], said: &[String]) -> Vec<String> {
    let said = without_blank_ends(said);
    if shows_nothing(shown) {
        return said;
    }
    let (shown_keys, said_keys) = (masked(shown), masked(&said));
    // Least cost of going from the first lines shown to the first lines said, and by which step.
    const DROP: u32 = 6;
    const ADD: u32 = 4;
    let (rows, columns) = (shown.len() + 1, said.len() + 1);
    let mut cost = vec![vec![(u32::MAX, 0_u8); columns]; rows];
    cost[0][0] = (0, 0);
    for i in 0..rows {
        for j in 0..columns {
            let mut best = cost[i][j];
            let mut offer = |price: u32, step: u8| {
                if price < best.0 {
                    best = (price, step);
                }
            };
            let left_out = |i: usize| shown[i].trim() == LEFT_OUT;
            if i > 0 && j > 0 && !left_out(i - 1) {
                let change = unlike(&shown_keys[i - 1], &said_keys[j - 1]);
                offer(cost[i - 1][j - 1].0.saturating_add(change), 1);
            }
            if i > 0 {
                let price = if left_out(i - 1) { 0 } else { DROP };
                offer(cost[i - 1][j].0.saturating_add(price), 2);
            }
            if j > 0 {
                let free = i > 0 && left_out(i - 1);
                offer(
                    cost[i][j - 1].0.saturating_add(if free { 0 } else { ADD }),
                    3,
                );
            }
            cost[i][j] = best;
        }
    }
    let mut lines = Vec::new();
    let (mut i, mut j) = (rows - 1, columns - 1);
    let mut skipped = false;
    while i > 0 || j > 0 {
        let left_out = i > 0 && shown[i - 1].trim() == LEFT_OUT;
        match cost[i][j].1 {
            1 => {
                (i, j) = (i - 1, j - 1);
                // Times of another day are no news; those in tables stand in columns.
                let same = shown_keys[i] == said_keys[j] && !said_keys[j].contains("CELL");
                lines.push(if same { &shown[i] } else { &said[j] }.clone());
            }
            2 => {
                if left_out && skipped {
                    lines.push(shown[i - 1].clone());
                }
                skipped = false;
                i -= 1;
            }
            _ => {
                j -= 1;
                match left_out {
                    true => skipped = true,
                    false => lines.push(said[j].clone()),
                }
            }
        }
    }
    lines.reverse();
    lines
}

/// Whether all is left out.
fn shows_nothing(shown: &[String]) -> bool {
    shown.iter().all(|line| line.trim() == LEFT_OUT)
}

/// How unlike two lines are: 0 for the same, 2 for other numbers, more for other words.
fn unlike(shown: &str, said: &str) -> u32 {
    if same_line(shown, said) {
        return 0;
    }
    let words = |line: &str| -> Vec<String> {
        let plain: String = line
            .chars()
            .map(|c| if c.is_alphabetic() { c } else { ' ' })
            .collect();
        plain.split_whitespace().map(str::to_owned).collect()
    };
    let (shown, said) = (words(shown), words(said));
    if shown == said {
        return 2;
    }
    let common = shown.iter().filter(|word| said.contains(word)).count();
    let most = shown.len().max(said.len());
    if 2 * common >= most { 4 } else { 20 }
}

fn without_blank_ends(lines: &[String]) -> Vec<String> {
    let is_blank = |line: &&String| line.trim().is_empty();
    let first = lines.iter().take_while(is_blank).count();
    let last = lines[first..].iter().rev().take_while(is_blank).count();
    lines[first..lines.len() - last].to_vec()
}

/// Whether the lines shown go with all lines said.
fn aligned(shown: &[String], said: &[String]) -> bool {
    // Which beginnings of the output the lines shown so far may stand for.
    let mut reached = vec![false; said.len() + 1];
    reached[0] = true;
    for line in shown {
        let mut next = vec![false; said.len() + 1];
        if line == LEFT_OUT {
            let first = reached.iter().position(|&is| is);
            next[first.unwrap_or(said.len() + 1).min(said.len())..].fill(first.is_some());
        } else {
            for (j, said) in said.iter().enumerate() {
                next[j + 1] = reached[j] && same_line(line, said);
            }
        }
        reached = next;
    }
    reached[said.len()]
}

/// The same without lines that quick machines leave out.
fn lasting(lines: &[String]) -> Vec<String> {
    let mut lines = masked(lines);
    lines.retain(|line| line != SPLIT);
    lines
}

/// How a step's time is made up, which is told only of runs that take long enough.
const SPLIT: &str = "of which TIMES";

/// Lines without what depends on the machine, blanks reduced.
fn masked(lines: &[String]) -> Vec<String> {
    // The place of a column of times in the table that is being read, and a list of times in JSON.
    let mut timed_column: Option<(usize, Option<usize>)> = None;
    let mut in_times = false;
    let mut masked = Vec::new();
    for line in lines {
        let text = line.trim();
        if text == LEFT_OUT {
            masked.push(text.to_owned());
            continue;
        }
        let cells: Vec<&str> = text
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .collect();
        if text.is_empty() {
            timed_column = None;
        }
        let length = line.trim_end().chars().count();
        // A row with an empty cell has its time where the last column ends.
        let timed = timed_column.and_then(|(place, end)| match place < cells.len() {
            true => Some(place),
            false => (end == Some(length)).then(|| cells.len() - 1),
        });
        if let Some(place) = cells.iter().position(|cell| *cell == "us per step") {
            timed_column = Some((place, (place + 1 == cells.len()).then_some(length)));
        } else if let Some(place) = timed {
            let mut cells = cells;
            cells[place] = "CELL";
            masked.push(reduced(&cells.join(" ")));
            continue;
        }
        let key = text.split(':').next().unwrap_or("").trim_matches('"');
        let is_time = matches!(
            key,
            "wall"
                | "real_time_factor"
                | "cpu"
                | "seconds"
                | "duration_s"
                | "step_p999_us"
                | "work_us"
        );
        if text.starts_with('"') && is_time {
            masked.push(format!("{key}: TIME"));
            continue;
        }
        in_times |= matches!(key, "step_us" | "split_us");
        if in_times {
            in_times = !text.contains(']');
            masked.push("TIMES".into());
            continue;
        }
        let word = text.split_whitespace().next().unwrap_or("");
        let line = match (word, text) {
            ("per", text) if text.contains("us median") => "per step TIMES".into(),
            ("of", text) if text.starts_with("of which") && text.contains(" us ") => SPLIT.into(),
            ("steps", text) if text.contains(" x real time") => {
                let steps = text.split(" s in ").next().unwrap_or("");
                let threads = text.rsplit(", ").next().unwrap_or("");
                reduced(&format!("{steps} s in TIME, {threads}"))
            }
            _ => reduced(text),
        };
        masked.push(line);
    }
    masked
}

/// With single blanks, and rules of any length alike.
fn reduced(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        let is_rule = word.len() > 2 && word.chars().all(|c| c == '-');
        if is_rule { "---" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether two lines are the same but for rounding of their numbers.
fn same_line(shown: &str, said: &str) -> bool {
    if shown == said {
        return true;
    }
    let (shown, said) = (pieces(shown), pieces(said));
    let same = |(shown, said): (&Fragment, &Fragment)| match (shown, said) {
        (Fragment::Text(shown), Fragment::Text(said)) => shown == said,
        (Fragment::Number(shown, unit), Fragment::Number(said, _)) => {
            let size = shown.abs().max(said.abs());
            size < ROUNDING || (shown - said).abs() <= unit.max(SAME * size) * 1.001
        }
        _ => false,
    };
    shown.len() == said.len() && shown.iter().zip(&said).all(same)
}

#[derive(Debug, PartialEq)]
enum Fragment {
    Text(String),
    /// Its value, and a unit of its last digit.
    Number(f64, f64),
}

/// Splits a line into numbers and what stands between them.
fn pieces(line: &str) -> Vec<Fragment> {
    let bytes = line.as_bytes();
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut position = 0;
    while position < bytes.len() {
        // A number does not begin within a word: `x2` and `sha256` are text.
        let in_word = position > 0
            && (bytes[position - 1].is_ascii_alphanumeric() || bytes[position - 1] == b'_');
        let length = if in_word {
            0
        } else {
            number(&line[position..])
        };
        if length > 0 {
            let digits = &line[position..position + length];
            pieces.push(Fragment::Text(std::mem::take(&mut text)));
            pieces.push(Fragment::Number(digits.parse().unwrap(), unit(digits)));
            position += length;
        } else {
            let next = line[position..].chars().next().unwrap();
            text.push(next);
            position += next.len_utf8();
        }
    }
    pieces.push(Fragment::Text(text));
    pieces
}

/// Length of the number at the beginning, zero if there is none.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let sign = usize::from(bytes[0] == b'-');
    let whole = digits(sign);
    if whole == 0 {
        return 0;
    }
    let mut length = sign + whole;
    if bytes.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if bytes.get(length) == Some(&b'e') {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'-' | b'+')));
        let power = digits((length + 1 + sign).min(bytes.len()));
        if power > 0 {
            length += 1 + sign + power;
        }
    }
    length
}

/// A unit of the last digit that is printed.
fn unit(digits: &str) -> f64 {
    let (mantissa, power) = digits.split_once('e').unwrap_or((digits, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, after)| after.len());
    if decimals == 0 && power == "0" {
        return 0.0;
    }
    10_f64.powi(power.parse::<i32>().unwrap_or(0) - decimals as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn times_are_masked_and_other_numbers_are_not() {
        let shown =
            lines("  steps 10 to t = 1.0 s in 0.2 s (5.0 x real time, 1 thread)\n  energy 3.20 J");
        let other_times = lines(
            "  steps   10 to t = 1.0 s in 0.9 s (1.1 x real time, 1 thread)\n  energy  3.20 J",
        );
        assert!(matches(&shown, &other_times));
        assert!(!matches(
            &shown,
            &lines(&other_times.join("\n").replace("3.20", "3.30"))
        ));
        assert!(!matches(
            &shown,
            &lines(&other_times.join("\n").replace("10 to", "11 to"))
        ));
        assert!(matches(
            &lines("radius 0.99873 1.0e-15"),
            &lines("radius 0.99874 2.2e-16")
        ));
    }

    #[test]
    fn columns_of_times_are_masked() {
        let shown = lines(
            "  variant  NRMS  us per step\n  -------  ----  -----\n  a b       0.5         1.2  ran",
        );
        let said = lines("  variant  NRMS  us per step\n  ---  ----  -\n  a b    0.5   17.25  ran");
        assert!(matches(&shown, &said));
        assert!(!matches(
            &shown,
            &lines(&said.join("\n").replace("ran", "stopped"))
        ));
    }

    #[test]
    fn times_are_masked_in_rows_with_empty_cells() {
        let table = |time: &str, speed: &str| {
            let heads = "  cut  speed-up  us per step\n  ---  --------  -----------";
            let rows =
                format!("  a         {speed}  {time:>11}\n  b         1.2\n  whole{time:>21}");
            lines(&format!("{heads}\n{rows}"))
        };
        assert!(matches(&table("35.4", "1.6"), &table("812.9", "1.6")));
        assert!(!matches(&table("35.4", "1.6"), &table("35.4", "1.9")));
    }

    #[test]
    fn dots_stand_for_any_lines_and_nothing_else_does() {
        let said = lines("a\nb\nc\nd");
        assert!(matches(&lines("a\n...\nd"), &said));
        assert!(matches(&lines("...\nc\n..."), &said));
        assert!(matches(&lines("a\nb\n...\nc\nd"), &said));
        assert!(!matches(&lines("a\n...\nc"), &said));
        assert!(!matches(&lines("b\n..."), &said));
    }

    #[test]
    fn a_renewed_output_keeps_what_is_left_out() {
        let shown = lines("...\nthe radius is 1.5\n...\nend");
        let said = lines("title\nmore\nthe radius is 1.7\nmuch\nmore\nend");
        assert_eq!(
            renewed(&shown, &said),
            lines("...\nthe radius is 1.7\n...\nend")
        );
        assert_eq!(
            renewed(&lines("a 1\nb 2"), &lines("a 3\nnew\nb 4")),
            lines("a 3\nnew\nb 4")
        );
    }
}
