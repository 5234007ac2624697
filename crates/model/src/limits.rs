//! Limits on what is read at all, so that no file can exhaust memory or stack.

use toml_parser::lexer::TokenKind;

use crate::problem::Problem;

/// Longest accepted file, in bytes.
pub const MAX_BYTES: u64 = 64 << 20;

/// Most words and signs in a file. The parsed tree takes up to 250 bytes for each.
pub const MAX_TOKENS: usize = 4_000_000;

/// Deepest accepted nesting of arrays, inline tables and dotted keys.
pub const MAX_DEPTH: usize = 100;

/// Whether a text stays within the limits on words and nesting.
pub(crate) fn check(text: &str) -> Result<(), Problem> {
    let mut nesting = Nesting::default();
    for (count, token) in toml_parser::Source::new(text).lex().enumerate() {
        let span = token.span().start()..token.span().end();
        if count > MAX_TOKENS {
            let message = format!("the file has more than {MAX_TOKENS} words and signs");
            return Err(Problem::new(span, message).label("the limit is reached here"));
        }
        nesting.follow(token.kind());
        if nesting.depth > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(Problem::new(span, message).label("the limit is reached here"));
        }
    }
    Ok(())
}

/// An upper bound of the depth: open brackets, and dots of the keys that lead to them.
///
/// The parser limits brackets and dots one by one, but not their product, and a deep tree
/// exhausts the stack when it is dropped.
#[derive(Default)]
struct Nesting {
    depth: usize,
    dots: usize,
    /// Dots before each open bracket.
    open: Vec<usize>,
}

impl Nesting {
    fn follow(&mut self, token: TokenKind) {
        match token {
            TokenKind::Dot => {
                self.dots += 1;
                self.depth += 1;
            }
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                self.open.push(std::mem::take(&mut self.dots));
                self.depth += 1;
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                self.forget_dots();
                if let Some(dots) = self.open.pop() {
                    self.dots = dots;
                    self.depth -= 1;
                }
            }
            TokenKind::Comma | TokenKind::Newline => self.forget_dots(),
            _ => {}
        }
    }

    fn forget_dots(&mut self) {
        self.depth -= std::mem::take(&mut self.dots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_the_sum_of_brackets_and_dots() {
        let depth = |text: &str| {
            let mut nesting = Nesting::default();
            let deepest = toml_parser::Source::new(text).lex().map(|token| {
                nesting.follow(token.kind());
                nesting.depth
            });
            deepest.max().unwrap_or(0)
        };
        assert_eq!(depth("a = [[1, 2], [3, 4]]"), 2);
        assert_eq!(depth("a.b.c = { d.e = [1.0, 2.0, 3.0] }"), 6);
        assert_eq!(depth("a = [\n1.0,\n2.0,\n]\nb = 1.0\n"), 2);
        assert_eq!(depth("]]]}}}"), 0);
        assert_eq!(depth("a = '[[[...'"), 0);
    }
}
