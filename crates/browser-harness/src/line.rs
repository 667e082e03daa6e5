//! A slow line between the server and a browser: answers start late, and all of them together get so
//! many bytes a second.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Bytes that are sent at once: a packet of the size that networks use.
const PACKET: usize = 1460;

/// The properties of a line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Bytes a second, of all answers together.
    pub bytes_per_second: f64,
    /// Time between a request and the first byte of its answer.
    pub delay: Duration,
}

impl Line {
    /// Without delay, as fast as it goes.
    pub const UNLIMITED: Self = Self {
        bytes_per_second: f64::INFINITY,
        delay: Duration::ZERO,
    };
    /// 1.6 Mbit/s with 150 ms from request to answer: a slow mobile network, as Lighthouse simulates
    /// it.
    pub const SLOW_4G: Self = Self {
        bytes_per_second: 1.6e6 / 8.0,
        delay: Duration::from_millis(150),
    };
}

/// A line that answers share.
pub(crate) struct SharedLine {
    line: Line,
    /// When the line has sent what it was given so far.
    free_at: Mutex<Instant>,
}

impl SharedLine {
    pub(crate) fn new(line: Line) -> Self {
        Self {
            line,
            free_at: Mutex::new(Instant::now()),
        }
    }

    /// Sends an answer, packet by packet: those of other answers come in between.
    pub(crate) fn send(&self, mut to: impl Write, answer: &[u8]) -> io::Result<()> {
        sleep(self.line.delay);
        for packet in answer.chunks(PACKET) {
            let done_at = {
                let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
                let time = packet.len() as f64 / self.line.bytes_per_second;
                *free_at = (*free_at).max(Instant::now()) + Duration::from_secs_f64(time);
                *free_at
            };
            sleep(done_at.saturating_duration_since(Instant::now()));
            to.write_all(packet)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_answers_share_the_line() {
        let line = SharedLine::new(Line {
            bytes_per_second: 1e6,
            delay: Duration::from_millis(10),
        });
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| line.send(io::sink(), &[0; 50_000]));
            }
        });
        // A bound from below holds on any machine.
        assert!(begun.elapsed() >= Duration::from_millis(100));
    }
}
