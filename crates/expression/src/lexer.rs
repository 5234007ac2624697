//! From characters to words: numbers, names and signs.

use crate::error::ExpressionError;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Number(f64),
    Name(&'a str),
    Sign(&'a str),
}

/// A token with its text and its place, in characters from one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub token: Token<'a>,
    pub text: &'a str,
    pub position: usize,
}

const SIGNS: &str = "+-*/^(),<>=!";
/// Signs of two characters, which are looked for first.
const PAIRS: [&str; 4] = ["<=", ">=", "==", "!="];

pub(crate) fn tokens(text: &str) -> Result<Vec<Placed<'_>>, ExpressionError> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut position = 1;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else {
            let placed = token(first, rest, position)?;
            found.push(placed);
            placed.text.len()
        };
        let (taken, after) = rest.split_at(length);
        position += taken.chars().count();
        rest = after;
    }
    Ok(found)
}

fn token(first: char, rest: &str, position: usize) -> Result<Placed<'_>, ExpressionError> {
    let pair = PAIRS.iter().find(|pair| rest.starts_with(**pair));
    let (token, text) = if let Some(pair) = pair {
        (Token::Sign(pair), &rest[..2])
    } else if SIGNS.contains(first) {
        (Token::Sign(&rest[..1]), &rest[..1])
    } else if first.is_ascii_digit() || first == '.' {
        let text = &rest[..number_length(rest.as_bytes())];
        let value = text.parse().map_err(|_| ExpressionError::BadNumber {
            text: text.to_owned(),
            position,
        })?;
        (Token::Number(value), text)
    } else if first.is_alphabetic() || first == '_' {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        (Token::Name(name), name)
    } else {
        return Err(ExpressionError::UnexpectedCharacter {
            character: first,
            position,
        });
    };
    Ok(Placed {
        token,
        text,
        position,
    })
}

/// Takes everything that looks like part of a number, so that `1.2.3` is one bad number.
fn number_length(bytes: &[u8]) -> usize {
    let mut end = 0;
    while let Some(&byte) = bytes.get(end) {
        let continues = match byte {
            b'0'..=b'9' | b'.' | b'e' | b'E' => true,
            b'+' | b'-' => matches!(bytes[end - 1], b'e' | b'E'),
            _ => false,
        };
        if !continues {
            break;
        }
        end += 1;
    }
    end
}
