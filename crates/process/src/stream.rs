//! A stream to a program: how it comes about, and bytes in time.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use oldham_shm::{Started, words_of};

use crate::shared::Shared;

/// How often a program that does not answer is looked after.
const TICK: Duration = Duration::from_millis(20);
/// How long one attempt to reach a program may take.
const ATTEMPT: Duration = Duration::from_secs(1);
/// How long the end of a program is waited for.
const FAREWELL: Duration = Duration::from_millis(500);

/// Where a socket is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Address {
    /// A file.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String),
    /// Memory that the program gets as its standard input.
    Shared,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(host) => write!(f, "tcp:{host}"),
            Self::Shared => write!(f, "shm:0"),
        }
    }
}

/// How a program is reached.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    /// A socket of its own for each program that is started, unless there is one.
    pub address: Option<Address>,
    /// Whether Oldham waits to be called.
    pub listens: bool,
    /// A program that is started for it, and its arguments, in a folder.
    pub command: Option<(Vec<String>, PathBuf)>,
    /// How long anything may take.
    pub timeout: Duration,
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
    Shared(Shared),
}

/// A stream to a program.
pub(crate) struct Stream {
    socket: Socket,
    child: Option<Started>,
    timeout: Duration,
    /// The file of a socket that is removed with it.
    file: Option<PathBuf>,
    /// Why it broke.
    broken: Option<String>,
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Stream {
    /// Starts the program if there is one to start, and meets it.
    pub fn open(contact: &Contact) -> Result<Self, String> {
        let address = &contact.address.clone().unwrap_or_else(own_address);
        let failed =
            |error: std::io::Error| format!("its socket {address} cannot be used: {error}");
        let listener = match (contact.listens, address) {
            (false, _) | (_, Address::Shared) => None,
            (true, Address::Unix(path)) => {
                if UnixStream::connect(path).is_ok() {
                    return Err(format!(
                        "another program listens at its socket {address} already; choose another address"
                    ));
                }
                // A file that a killed process left.
                let _ = std::fs::remove_file(path);
                Some(Listener::Unix(UnixListener::bind(path).map_err(failed)?))
            }
            (true, Address::Tcp(host)) => {
                Some(Listener::Tcp(TcpListener::bind(host).map_err(failed)?))
            }
        };
        let mut shared = None;
        let mut child = match &contact.command {
            None => None,
            Some((words, folder)) => {
                let mut command = Command::new(&words[0]);
                command
                    .args(&words[1..])
                    .current_dir(folder)
                    .env("OLDHAM_SOCKET", address.to_string())
                    .stdin(std::process::Stdio::null());
                if *address == Address::Shared {
                    let (made, file) = Shared::new().map_err(failed)?;
                    command.stdin(file);
                    shared = Some(made);
                }
                let name = &words[0];
                let started = Started::new(command);
                Some(started.map_err(|error| format!("`{name}` cannot be started: {error}"))?)
            }
        };
        let until = Instant::now() + contact.timeout;
        let socket = loop {
            let found = match (&listener, shared.take()) {
                (_, Some(shared)) => Ok(Socket::Shared(shared)),
                (Some(listener), None) => listener.accept(),
                (None, None) => connect(address),
            };
            match found {
                Ok(socket) => break socket,
                Err(error) => {
                    if let Some(child) = &mut child
                        && let Some(status) = child.ended()
                    {
                        let how = words_of(status);
                        let said = child.last_words();
                        return Err(format!("it {how} before it was met at {address}{said}"));
                    }
                    if Instant::now() >= until {
                        let seconds = contact.timeout.as_secs_f64();
                        let reason = match &listener {
                            Some(_) => "no program has called".to_owned(),
                            None => error.to_string(),
                        };
                        let said = child.as_mut().map_or(String::new(), Started::last_words);
                        return Err(format!(
                            "it was not met at {address} within {seconds} s: {reason}{said}"
                        ));
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        };
        match &socket {
            Socket::Unix(socket) => socket
                .set_read_timeout(Some(TICK))
                .and_then(|()| socket.set_write_timeout(Some(TICK))),
            Socket::Tcp(socket) => socket
                .set_nodelay(true)
                .and_then(|()| socket.set_read_timeout(Some(TICK)))
                .and_then(|()| socket.set_write_timeout(Some(TICK))),
            Socket::Shared(_) => Ok(()),
        }
        .map_err(failed)?;
        let file = match (&listener, address) {
            (Some(_), Address::Unix(path)) => Some(path.clone()),
            _ => None,
        };
        Ok(Self {
            socket,
            child,
            timeout: contact.timeout,
            file,
            broken: None,
        })
    }

    /// Sends all of these bytes: to a program that reads, or as much as fits between the two.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.check()?;
        let mut count = 0;
        let mut started = None;
        while count < bytes.len() {
            let written = match &mut self.socket {
                Socket::Unix(socket) => socket.write(&bytes[count..]),
                Socket::Tcp(socket) => socket.write(&bytes[count..]),
                Socket::Shared(shared) => shared.write(bytes).map(|()| bytes.len()),
            };
            match written {
                Ok(n) => count += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_late(&error) => {
                    let started = *started.get_or_insert_with(Instant::now);
                    if self.has_ended() {
                        return self.broke("it does not read");
                    }
                    if started.elapsed() >= self.timeout {
                        let seconds = self.timeout.as_secs_f64();
                        let all = bytes.len();
                        return self.broke(&format!(
                            "it did not read within {seconds} s: {count} of {all} bytes are sent"
                        ));
                    }
                }
                Err(error) => return self.broke(&format!("nothing can be sent to it: {error}")),
            }
        }
        Ok(())
    }

    /// Waits for so many bytes.
    pub fn receive(
        &mut self,
        bytes: &mut [u8],
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        self.check()?;
        let mut count = 0;
        let mut started = None;
        while count < bytes.len() {
            let read = match &mut self.socket {
                Socket::Unix(socket) => socket.read(&mut bytes[count..]),
                Socket::Tcp(socket) => socket.read(&mut bytes[count..]),
                Socket::Shared(shared) => shared.read(&mut bytes[count..]),
            };
            match read {
                Ok(0) if count == 0 => return self.broke("it has closed its socket"),
                Ok(0) => {
                    let all = bytes.len();
                    return self.broke(&format!(
                        "it has closed its socket after {count} of {all} bytes"
                    ));
                }
                Ok(n) => count += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_late(&error) => {
                    let started = *started.get_or_insert_with(Instant::now);
                    if self.has_ended() {
                        return self.broke("it does not answer");
                    }
                    if is_cancelled() || started.elapsed() >= self.timeout {
                        let seconds = self.timeout.as_secs_f64();
                        let all = bytes.len();
                        return self.broke(&format!(
                            "it did not answer within {seconds} s: {count} of {all} bytes have come"
                        ));
                    }
                }
                Err(error) => return self.broke(&format!("nothing comes from it: {error}")),
            }
        }
        Ok(())
    }

    fn has_ended(&mut self) -> bool {
        let child = self.child.as_mut();
        child.is_some_and(|child| child.ended().is_some())
    }

    fn check(&self) -> Result<(), String> {
        match &self.broken {
            Some(cause) => Err(cause.clone()),
            None => Ok(()),
        }
    }

    /// It is of no use any more, for this reason: how the program ended is the first cause.
    pub fn broke<T>(&mut self, reason: &str) -> Result<T, String> {
        let mut cause = reason.to_owned();
        if let Some(child) = &mut self.child {
            // Its socket closes before it has ended.
            let until = Instant::now() + FAREWELL;
            while child.ended().is_none() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(2));
            }
            match child.ended() {
                Some(status) => cause = format!("it {}: {reason}", words_of(status)),
                None => child.kill(),
            }
            cause += &child.last_words();
        }
        self.broken = Some(cause.clone());
        Err(cause)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        match &self.socket {
            Socket::Unix(socket) => drop(socket.shutdown(std::net::Shutdown::Both)),
            Socket::Tcp(socket) => drop(socket.shutdown(std::net::Shutdown::Both)),
            Socket::Shared(_) => {}
        }
        if let Some(child) = &mut self.child {
            let until = Instant::now() + FAREWELL;
            while child.ended().is_none() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        if let Some(file) = &self.file {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Whether there was nothing to do yet.
fn is_late(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// An address that nobody else has.
fn own_address() -> Address {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("oldham-{}-{count}.sock", std::process::id());
    Address::Unix(std::env::temp_dir().join(name))
}

impl Listener {
    /// Somebody who has called, if anybody has.
    fn accept(&self) -> std::io::Result<Socket> {
        match self {
            Self::Unix(listener) => {
                listener.set_nonblocking(true)?;
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(false)?;
                Ok(Socket::Unix(socket))
            }
            Self::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                let (socket, _) = listener.accept()?;
                socket.set_nonblocking(false)?;
                Ok(Socket::Tcp(socket))
            }
        }
    }
}

fn connect(address: &Address) -> std::io::Result<Socket> {
    match address {
        Address::Unix(path) => UnixStream::connect(path).map(Socket::Unix),
        Address::Tcp(host) => {
            let mut last = ErrorKind::AddrNotAvailable.into();
            for address in host.to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, ATTEMPT) {
                    Ok(socket) => return Ok(Socket::Tcp(socket)),
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
        Address::Shared => Err(ErrorKind::Unsupported.into()),
    }
}
