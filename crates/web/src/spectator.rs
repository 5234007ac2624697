//! Somebody who looks on without a browser: to measure what that costs, and in tests.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;

use crate::Server;

/// A viewer who shows nothing to anybody.
pub enum Spectator {
    /// It takes whatever comes.
    Taking(JoinHandle<u64>),
    /// It takes nothing.
    Stalled(TcpStream),
}

impl Spectator {
    /// Takes whatever comes, until the server ends.
    pub fn taking(server: &Server) -> io::Result<Self> {
        let mut stream = connect(server)?;
        let take = move || {
            let mut bytes = [0; 1 << 14];
            let mut taken = 0;
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                taken += count as u64;
            }
            taken
        };
        Ok(Self::Taking(std::thread::spawn(take)))
    }

    /// Connects and then takes nothing.
    pub fn stalled(server: &Server) -> io::Result<Self> {
        connect(server).map(Self::Stalled)
    }

    /// Leaves; whoever takes everything does so when the server has ended. Says how many bytes it took.
    pub fn leave(self) -> u64 {
        match self {
            Self::Taking(thread) => thread.join().unwrap_or(0),
            Self::Stalled(_) => 0,
        }
    }
}

fn connect(server: &Server) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(server.address())?;
    write!(
        stream,
        "GET /live?token={} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        server.token(),
        server.address(),
    )?;
    Ok(stream)
}
