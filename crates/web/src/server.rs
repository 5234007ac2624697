//! A small server: one page, one film, one stage.
//!
//! Nothing is read from disk while it runs, so no path leads anywhere. A browser must show the
//! token, ask by a bare address, and come from no foreign page.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tungstenite::handshake::derive_accept_key;

use crate::film::PAGE;
use crate::request::{Refusal, Request};
use crate::viewer::Viewer;
use crate::{Film, Stage};

/// So many connections that have shown the token are served at once.
pub const MOST_CLIENTS: usize = 32;
/// So many connections may be about to show it. One more closes the oldest of them, so that silent ones keep out no other.
const MOST_WAITING: usize = 128;
/// An answer that is not taken for so long is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Another program listens there.
    #[error("port {port} of {address} is in use; choose another with --port, or 0 for any that is free", port = .0.port(), address = .0.ip())]
    InUse(SocketAddr),
    /// The system refuses.
    #[error("cannot listen at {address}: {reason}")]
    Refused {
        /// Where.
        address: SocketAddr,
        /// Why not.
        reason: std::io::Error,
    },
    /// There is no randomness for a token.
    #[error("the system gives no random numbers for a token: {0}")]
    NoToken(String),
}

/// Shows a film, or a stage, to browsers, until it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    film: Vec<u8>,
    stage: Option<Stage>,
    token: String,
    clients: AtomicUsize,
    waiting: Mutex<VecDeque<(u64, TcpStream)>>,
    ids: AtomicU64,
    stopped: AtomicBool,
}

impl Server {
    /// Listens at an address; port 0 is any that is free.
    pub fn start(
        address: SocketAddr,
        film: &Film,
        stage: Option<Stage>,
    ) -> Result<Self, ServerError> {
        let refused = |reason: std::io::Error| match reason.kind() {
            std::io::ErrorKind::AddrInUse => ServerError::InUse(address),
            _ => ServerError::Refused { address, reason },
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let shared = Arc::new(Shared {
            film: film.to_bytes(),
            stage,
            token: token()?,
            clients: AtomicUsize::new(0),
            waiting: Mutex::default(),
            ids: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        });
        let here = shared.clone();
        let accepting = thread::Builder::new()
            .name("server".into())
            .spawn(move || accept(&listener, &here))
            .map_err(refused)?;
        Ok(Self {
            address,
            shared,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a browser on this computer opens, with the token.
    pub fn url(&self) -> String {
        self.url_at(reachable(self.address))
    }

    /// What a browser on another computer opens, with the token, if the server listens to others: at the address of
    /// this computer, which is not known here if it listens at all of them.
    pub fn url_from_elsewhere(&self) -> Option<String> {
        let ip = self.address.ip();
        if ip.is_loopback() {
            return None;
        }
        Some(match ip.is_unspecified() {
            true => format!(
                "http://ADDRESS:{}/?token={}",
                self.address.port(),
                self.shared.token
            ),
            false => self.url_at(self.address),
        })
    }

    fn url_at(&self, host: SocketAddr) -> String {
        format!("http://{host}/?token={}", self.shared.token)
    }

    /// What a browser must show.
    pub fn token(&self) -> &str {
        &self.shared.token
    }

    /// Connections that are being served.
    pub fn clients(&self) -> usize {
        self.shared.clients.load(Ordering::Relaxed)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Whoever waits for the next client gets one.
        let _ = TcpStream::connect_timeout(&reachable(self.address), PATIENCE);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// An address at which this computer reaches what it listens at.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn token() -> Result<String, ServerError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| ServerError::NoToken(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut stream) = stream else {
            // Too many open files, say: others may leave meanwhile.
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        let _ = stream.set_nodelay(true);
        let is_served = Waiting::enter(shared, &stream).is_some_and(|waiting| {
            let Ok(stream) = stream.try_clone() else {
                return false;
            };
            let serving = thread::Builder::new().name("client".into());
            serving.spawn(move || waiting.serve(stream)).is_ok()
        });
        if !is_served {
            let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
            refuse(&mut stream, Refusal::FULL);
        }
    }
}

/// A connection that has not shown the token yet.
struct Waiting {
    shared: Arc<Shared>,
    id: u64,
}

impl Waiting {
    fn enter(shared: &Arc<Shared>, stream: &TcpStream) -> Option<Self> {
        let own = stream.try_clone().ok()?;
        let id = shared.ids.fetch_add(1, Ordering::Relaxed) + 1;
        let mut waiting = shared.waiting();
        waiting.push_back((id, own));
        if waiting.len() > MOST_WAITING
            && let Some((_, oldest)) = waiting.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        drop(waiting);
        let shared = shared.clone();
        Some(Self { shared, id })
    }

    fn serve(self, mut stream: TcpStream) {
        let _ = stream.set_write_timeout(Some(PATIENCE));
        match Request::read(&mut stream) {
            Ok(None) => {}
            Ok(Some(request)) => {
                if let Err(refusal) = self.answer(request, &mut stream) {
                    refuse(&mut stream, refusal);
                }
            }
            Err(refusal) => refuse(&mut stream, refusal),
        }
    }

    /// The connection has shown the token: it waits no longer, and takes a place.
    fn admit(&self, request: &Request) -> Result<Place, Refusal> {
        request.check_token(&self.shared.token)?;
        self.leave();
        Place::take(&self.shared).ok_or(Refusal::FULL)
    }

    fn leave(&self) {
        self.shared.waiting().retain(|(id, _)| *id != self.id);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.leave();
    }
}

/// One of the connections that may be served at once.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let before = shared.clients.fetch_add(1, Ordering::Relaxed);
        let place = Self(shared.clone());
        (before < MOST_CLIENTS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn answer(&self, request: Request, stream: &mut TcpStream) -> Result<(), Refusal> {
        request.check_sender()?;
        match request.path.as_str() {
            // The page tells nothing that is not in the program itself.
            "/" => send(
                stream,
                "200 OK",
                "text/html; charset=utf-8",
                PAGE.as_bytes(),
            ),
            "/film" => {
                let place = self.admit(&request)?;
                send(stream, "200 OK", "application/octet-stream", &place.0.film);
            }
            "/live" => {
                let place = self.admit(&request)?;
                let stage = place.0.stage.as_ref().ok_or(Refusal::NOT_FOUND)?;
                let key = request.header("sec-websocket-key");
                let key = key.ok_or(Refusal::NOT_HTTP)?;
                let head = format!(
                    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\
                     Upgrade: websocket\r\nSec-WebSocket-Accept: {}\r\n\r\n",
                    derive_accept_key(key.as_bytes())
                );
                let stream = stream
                    .try_clone()
                    .ok()
                    .filter(|mut stream| stream.write_all(head.as_bytes()).is_ok());
                if let Some(stream) = stream {
                    let viewer = Viewer {
                        id: self.id,
                        stage,
                        stopped: &place.0.stopped,
                    };
                    viewer.serve(stream, request.rest);
                }
            }
            _ => return Err(Refusal::NOT_FOUND),
        }
        Ok(())
    }
}

fn refuse(stream: &mut TcpStream, Refusal(status, reason): Refusal) {
    send(
        stream,
        status,
        "text/plain; charset=utf-8",
        reason.as_bytes(),
    );
}

/// Whoever does not take the answer has left: there is nobody to tell.
fn send(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\n\
         X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
        body.len()
    );
    let sent = stream.write_all(head.as_bytes());
    let _ = sent.and_then(|()| stream.write_all(body));
}
