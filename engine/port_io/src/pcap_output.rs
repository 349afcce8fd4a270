//! A pcap file being written: a port's output, or a capture of an interface.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::SystemTime;

use crate::{pcap, IoError};

/// Number of buffered bytes at which the file is written; it is also written when the switch is idle.
const WRITE_BYTES: usize = 256 << 10;
/// Limit on the data for a reader of a FIFO. Further frames are dropped and counted.
const PENDING_LIMIT: usize = 16 << 20;

/// A pcap file being written. Never blocks, not even as a FIFO without a reader.
pub struct Output {
    port: u16,
    path: PathBuf,
    file: File,
    pending: Vec<u8>,
    lost: u64,
    error: Option<String>,
}

impl Output {
    /// Creates or truncates a file, or opens a FIFO, and writes the file header.
    pub fn create(port: u16, path: PathBuf) -> Result<Self, IoError> {
        let is_fifo = std::fs::metadata(&path).is_ok_and(|found| found.file_type().is_fifo());
        let mut options = OpenOptions::new();
        options.write(true);
        if is_fifo {
            // A FIFO opened for reading and writing neither waits for a reader nor fails without one.
            options.read(true).custom_flags(libc::O_NONBLOCK);
        } else {
            options.create(true).truncate(true);
        }
        let mut file = options.open(&path).map_err(IoError::file(&path, port))?;
        file.write_all(&pcap::file_header(false)).map_err(IoError::file(&path, port))?;
        Ok(Self { port, path, file, pending: Vec::new(), lost: 0, error: None })
    }

    /// Appends a frame. Returns false if it is lost because earlier output is still pending.
    pub fn append(&mut self, frame: &[u8]) -> bool {
        if self.error.is_some() || self.pending.len() + frame.len() > PENDING_LIMIT {
            self.lost += 1;
            return false;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        pcap::append_record(&mut self.pending, now.as_nanos() as u64, frame);
        if self.pending.len() >= WRITE_BYTES {
            self.flush();
        }
        true
    }

    /// Writes as much as possible without blocking.
    pub fn flush(&mut self) {
        while !self.pending.is_empty() && self.error.is_none() {
            match self.file.write(&self.pending) {
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) => {
                    self.pending.clear();
                    let (path, port) = (self.path.display(), self.port);
                    self.error =
                        Some(format!("port {port}: file '{path}': {error}; nothing more is written to it"));
                }
            }
        }
    }

    /// Returns the error since the last call, if any.
    pub fn take_error(&mut self) -> Option<String> {
        match &mut self.error {
            // An empty text keeps the file closed without another report.
            Some(text) if !text.is_empty() => Some(std::mem::take(text)),
            _ => None,
        }
    }
}
