//! The head of a request, as far as this server needs it.

use std::io::{ErrorKind, Read};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

/// A head may have so many bytes, and take so long.
const MOST_BYTES: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(5);

/// What somebody asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub path: String,
    /// After the question mark.
    query: String,
    /// Names in lower case.
    headers: Vec<(String, String)>,
    /// What came after the head.
    pub rest: Vec<u8>,
}

/// Why a request is refused: the status line, and a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub &'static str, pub &'static str);

impl Refusal {
    pub const NOT_HTTP: Self = Self("400 Bad Request", "This is no request that is understood.");
    pub const TOO_LONG: Self = Self(
        "431 Request Header Fields Too Large",
        "The head of the request is too long.",
    );
    pub const TOO_SLOW: Self = Self("408 Request Timeout", "The request came too slowly.");
    pub const METHOD: Self = Self("405 Method Not Allowed", "Only GET is understood.");
    pub const HOST: Self = Self(
        "403 Forbidden",
        "Open the page by the address that was told, a number or localhost.",
    );
    pub const ORIGIN: Self = Self("403 Forbidden", "Another page may not look in here.");
    pub const TOKEN: Self = Self(
        "403 Forbidden",
        "The token is missing or wrong: open the complete address that was told.",
    );
    pub const NOT_FOUND: Self = Self("404 Not Found", "There is no such page.");
    pub const FULL: Self = Self(
        "503 Service Unavailable",
        "Too many are looking on already. Try again when somebody has left.",
    );
}

impl Request {
    /// Reads a head; `None` if the other side leaves without a word.
    pub fn read(stream: &mut TcpStream) -> Result<Option<Self>, Refusal> {
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = Vec::new();
        let mut chunk = [0; 1024];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let allowed = stream.set_read_timeout(Some(left.max(Duration::from_millis(1))));
            if left.is_zero() || allowed.is_err() {
                return Err(Refusal::TOO_SLOW);
            }
            match stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => return Err(Refusal::TOO_SLOW),
                Err(_) => return Ok(None),
            }
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = bytes.split_off(end + 4);
                return Self::parse(&bytes, rest).map(Some);
            }
            if bytes.len() > MOST_BYTES {
                return Err(Refusal::TOO_LONG);
            }
        }
    }

    fn parse(head: &[u8], rest: Vec<u8>) -> Result<Self, Refusal> {
        if head.len() > MOST_BYTES {
            return Err(Refusal::TOO_LONG);
        }
        let head = std::str::from_utf8(head).map_err(|_| Refusal::NOT_HTTP)?;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(Refusal::NOT_HTTP);
        };
        if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
            return Err(Refusal::NOT_HTTP);
        }
        if method != "GET" {
            return Err(Refusal::METHOD);
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        Ok(Self {
            path: path.into(),
            query: query.into(),
            headers: lines.filter_map(header).collect(),
            rest,
        })
    }

    /// The only header of this name; of several none is believed.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(known, _)| known == name);
        match (named.next(), named.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// Whether it comes from our own page, or from no page at all.
    ///
    /// A foreign page can make a browser ask for a name of its own that leads here. It cannot do so
    /// with a bare address, and where it asks for another origin the browser says from where.
    pub fn check_sender(&self) -> Result<(), Refusal> {
        let host = self.header("host").ok_or(Refusal::HOST)?;
        if !is_bare_address(host) {
            return Err(Refusal::HOST);
        }
        let has_origin = self.headers.iter().any(|(name, _)| name == "origin");
        match self.header("origin") {
            None if !has_origin => Ok(()),
            Some(origin) if origin.strip_prefix("http://") == Some(host) => Ok(()),
            _ => Err(Refusal::ORIGIN),
        }
    }

    /// Whether it shows the token.
    pub fn check_token(&self, token: &str) -> Result<(), Refusal> {
        let mut parts = self.query.split('&');
        let shown = parts.find_map(|part| part.strip_prefix("token="));
        match shown {
            Some(shown) if is_same(shown.as_bytes(), token.as_bytes()) => Ok(()),
            _ => Err(Refusal::TOKEN),
        }
    }
}

/// Whether an error only says that nothing came, or could be sent, in time.
pub(crate) fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn is_bare_address(host: &str) -> bool {
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split_once(']').is_some_and(|(address, port)| {
            address.parse::<IpAddr>().is_ok() && (port.is_empty() || port.starts_with(':'))
        });
    }
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    name == "localhost" || name.parse::<IpAddr>().is_ok()
}

/// Compares in a time that does not tell where the first difference is.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Result<Request, Refusal> {
        Request::parse(head.as_bytes(), Vec::new())
    }

    #[test]
    fn only_get_of_a_path_is_understood() {
        let refused = |head: &str| parsed(head).unwrap_err();
        assert_eq!(refused("POST / HTTP/1.1\r\n"), Refusal::METHOD);
        assert_eq!(
            refused("GET http://elsewhere/ HTTP/1.1\r\n"),
            Refusal::NOT_HTTP
        );
        assert_eq!(refused("GET /\r\n"), Refusal::NOT_HTTP);
        assert_eq!(refused("\u{16}\u{3}\u{1}"), Refusal::NOT_HTTP);
    }

    #[test]
    fn names_that_lead_here_are_refused() {
        let check = |host: &str, origin: &str| {
            parsed(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n{origin}\r\n"))
                .unwrap()
                .check_sender()
        };
        assert_eq!(check("127.0.0.1:80", ""), Ok(()));
        assert_eq!(check("[::1]:80", ""), Ok(()));
        assert_eq!(
            check("localhost:80", "Origin: http://localhost:80\r\n"),
            Ok(())
        );
        assert_eq!(check("evil.example:80", ""), Err(Refusal::HOST));
        assert_eq!(check("127.0.0.1.evil.example", ""), Err(Refusal::HOST));
        let foreign = "Origin: http://evil.example\r\n";
        assert_eq!(check("127.0.0.1:80", foreign), Err(Refusal::ORIGIN));
        let twice = "Origin: http://127.0.0.1:80\r\nOrigin: http://evil.example\r\n";
        assert_eq!(check("127.0.0.1:80", twice), Err(Refusal::ORIGIN));
        assert_eq!(
            check("127.0.0.1:80", "Origin: null\r\n"),
            Err(Refusal::ORIGIN)
        );
    }

    #[test]
    fn a_token_is_whole_or_wrong() {
        let request = parsed("GET /film?a=b&token=1234 HTTP/1.1\r\n").unwrap();
        assert_eq!(request.check_token("1234"), Ok(()));
        assert_eq!(request.check_token("12345"), Err(Refusal::TOKEN));
        assert_eq!(request.check_token("123"), Err(Refusal::TOKEN));
        let none = parsed("GET /film HTTP/1.1\r\n").unwrap();
        assert_eq!(none.check_token(""), Err(Refusal::TOKEN));
    }
}
