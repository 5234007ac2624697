//! Standard output and standard error, as a good neighbour: a reader that has seen enough is no
//! error, and what a file or an argument says never commands the terminal.

use std::fmt::{Arguments, Write as _};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static SILENT: AtomicBool = AtomicBool::new(false);

/// From now on nothing is said: another process does.
pub fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Writes to standard output; what a closed pipe does not take is dropped.
pub fn write(text: Arguments<'_>) {
    if is_silent() {
        return;
    }
    let text = escaped(&text.to_string());
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Empties the terminal that standard output is, and goes to its first place.
pub fn clear_screen() {
    let _ = std::io::stdout().write_all(b"\x1b[H\x1b[2J");
}

/// Writes to standard error, which may be closed or full.
pub fn write_error(text: Arguments<'_>) {
    write_error_raw(&escaped(&text.to_string()));
}

/// Writes to standard error what is known to be clean, colours included.
pub fn write_error_raw(text: &str) {
    if is_silent() {
        return;
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// A text without control characters but line breaks and tabs. The others are written as JSON would
/// write them, so that JSON stays JSON; those that turn the direction of text count among them.
pub fn escaped(text: &str) -> String {
    if !text.chars().any(is_harmful) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmful(character) {
            // A string takes everything.
            let _ = write!(clean, "\\u{:04x}", character as u32);
        } else {
            clean.push(character);
        }
    }
    clean
}

fn is_harmful(character: char) -> bool {
    let turns_text = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns_text || (character.is_control() && character != '\n' && character != '\t')
}

/// Prints a line, as `println!` does.
#[macro_export]
macro_rules! say {
    () => { $crate::output::write(format_args!("\n")) };
    ($($text:tt)*) => {
        $crate::output::write(format_args!("{}\n", format_args!($($text)*)))
    };
}

/// Prints a line to standard error, as `eprintln!` does.
#[macro_export]
macro_rules! tell {
    ($($text:tt)*) => {
        $crate::output::write_error(format_args!("{}\n", format_args!($($text)*)))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_command_a_terminal_is_written_out() {
        assert_eq!(
            escaped("a\u{1b}[31mb\r\nc\td"),
            "a\\u001b[31mb\\u000d\nc\td"
        );
        assert_eq!(escaped("\u{9b}2J \u{202e}x"), "\\u009b2J \\u202ex");
        assert_eq!(escaped("Größe µ ≤ 1"), "Größe µ ≤ 1");
    }

    #[test]
    fn escaped_json_says_the_same() {
        let value = serde_json::json!({"name": "a\u{1b}\u{7f}\u{9b}\u{202e}b"});
        let text = escaped(&value.to_string());
        let back: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(back, value);
    }
}
