//! Standard output, as a good neighbour in a pipe: a reader that has seen enough is no error.

use std::fmt::Arguments;
use std::io::Write;

/// Writes to standard output; what a closed pipe does not take is dropped.
pub fn write(text: Arguments<'_>) {
    let _ = std::io::stdout().write_fmt(text);
}

/// Prints a line, as `println!` does.
#[macro_export]
macro_rules! say {
    () => { $crate::output::write(format_args!("\n")) };
    ($($text:tt)*) => {
        $crate::output::write(format_args!("{}\n", format_args!($($text)*)))
    };
}
