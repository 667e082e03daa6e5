//! The client's side of WebDriver BiDi: commands and their results as JSON over a WebSocket.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// The longest wait for a message: a page that opens, or a script that waits for one.
const ANSWER_WITHIN: Duration = Duration::from_secs(180);

/// A reason why a command had no result.
#[derive(Debug, thiserror::Error)]
pub enum BidiError {
    /// There is no connection.
    #[error("no connection: {0}")]
    Connect(#[from] io::Error),
    /// The greeting of the WebSocket failed.
    #[error("the browser does not open a WebSocket: {0}")]
    Greeting(String),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(#[from] Box<tungstenite::Error>),
    /// The browser sent what is no JSON.
    #[error("a message that is no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The browser refuses the command.
    #[error("the browser refuses {method}: {why}")]
    Refused {
        /// The command.
        method: String,
        /// The browser's error and message.
        why: String,
    },
}

/// A session of WebDriver BiDi.
pub(crate) struct Bidi {
    socket: WebSocket<TcpStream>,
    commands: u64,
    events: Vec<Value>,
}

impl Bidi {
    /// Opens a session with a browser that listens on a port of this machine.
    pub(crate) fn connect(port: u16) -> Result<Self, BidiError> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(ANSWER_WITHIN))?;
        let address = format!("ws://127.0.0.1:{port}/session");
        let (socket, _) = tungstenite::client(address, stream)
            .map_err(|error| BidiError::Greeting(error.to_string()))?;
        let mut session = Self {
            socket,
            commands: 0,
            events: Vec::new(),
        };
        session.command("session.new", json!({ "capabilities": {} }))?;
        Ok(session)
    }

    /// Sends a command and waits for its result; events that come meanwhile are kept.
    pub(crate) fn command(&mut self, method: &str, params: Value) -> Result<Value, BidiError> {
        self.commands += 1;
        let command = json!({ "id": self.commands, "method": method, "params": params });
        self.socket
            .send(Message::text(command.to_string()))
            .map_err(Box::new)?;
        loop {
            let message = self.socket.read().map_err(Box::new)?;
            let Message::Text(text) = message else {
                continue;
            };
            let mut message: Value = serde_json::from_str(text.as_str())?;
            if message["type"] == "event" {
                self.events.push(message);
            } else if message["id"] == self.commands {
                if message["type"] == "success" {
                    return Ok(message["result"].take());
                }
                return Err(BidiError::Refused {
                    method: method.to_owned(),
                    why: format!("{}: {}", message["error"], message["message"]),
                });
            }
        }
    }

    /// The events that came since the last call, as they were sent.
    pub(crate) fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }
}
