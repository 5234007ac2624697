//! A browser that looks on while a model runs, on a thread of its own.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use crate::request::is_timeout;
use crate::{Stage, Wish};

/// A message from a browser may have so many bytes: wishes are short.
const MOST_BYTES: usize = 4 << 10;
/// So long is listened before the next row is looked for: at most 125 rows a second.
const LISTENING: Duration = Duration::from_millis(8);
/// Whoever takes nothing for so long is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// One who looks on.
pub(crate) struct Viewer<'a> {
    /// Unique, from one on.
    pub id: u64,
    pub stage: &'a Stage,
    /// Ends it.
    pub stopped: &'a AtomicBool,
}

impl Viewer<'_> {
    /// Shows rows and obeys wishes until the other side leaves, misbehaves or takes nothing more.
    pub fn serve(&self, stream: TcpStream, already_read: Vec<u8>) {
        let timed = stream.set_read_timeout(Some(LISTENING));
        if timed
            .and(stream.set_write_timeout(Some(LISTENING)))
            .is_err()
        {
            return;
        }
        let config = WebSocketConfig::default()
            .max_message_size(Some(MOST_BYTES))
            .max_frame_size(Some(MOST_BYTES))
            .read_buffer_size(MOST_BYTES);
        let mut socket =
            WebSocket::from_partially_read(stream, already_read, Role::Server, Some(config));
        self.stage.enter();
        let _ = self.attend(&mut socket);
        self.stage.leave(self.id);
        let _ = socket.close(None);
    }

    fn attend(&self, socket: &mut WebSocket<TcpStream>) -> Result<(), Error> {
        let (mut seen, mut told) = (0, 0);
        // Since when something waits to be taken. Nothing further is written until then: rows that
        // come meanwhile are skipped, not queued.
        let mut waiting: Option<Instant> = None;
        while !self.stopped.load(Ordering::Relaxed) {
            match socket.read() {
                Ok(Message::Text(text)) => match serde_json::from_str::<Wish>(&text) {
                    Ok(wish) => self.stage.obey(self.id, wish),
                    Err(_) => return Ok(()),
                },
                Ok(Message::Close(_)) => return Ok(()),
                Ok(_) => {}
                Err(Error::Io(error)) if is_timeout(&error) => {}
                Err(error) => return Err(error),
            }
            if waiting.is_none() {
                let now = self.stage.told();
                if now != told {
                    told = now;
                    let status = self.stage.status_for(self.id);
                    patiently(socket.write(Message::text(status)))?;
                }
                if let Some(row) = self.stage.newer_than(&mut seen) {
                    patiently(socket.write(Message::binary(row)))?;
                }
            }
            waiting = match patiently(socket.flush())? {
                true => None,
                false => waiting.or_else(|| Some(Instant::now())),
            };
            if waiting.is_some_and(|since| since.elapsed() > PATIENCE) {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Whether it was done; what is left is kept by the socket and sent with the next flush.
fn patiently(sent: Result<(), Error>) -> Result<bool, Error> {
    match sent {
        Ok(()) => Ok(true),
        Err(Error::Io(error)) if is_timeout(&error) => Ok(false),
        Err(error) => Err(error),
    }
}
