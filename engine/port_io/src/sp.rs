//! The part of nanomsg's wire format that a PAIR socket needs: the greeting and the framing of the SP over IPC and SP
//! over TCP mappings (nanomsg's rfc/sp-ipc-mapping-01 and rfc/sp-tcp-mapping-01). No sockets here.
//!
//! nanomsg is a C library, and the maintained Rust bindings to it and to its successor build it with CMake; a PAIR
//! socket needs only eight bytes of greeting and a length in front of each message.

use crate::IoError;

/// Maximum length of a message: nanomsg's default for NN_RCVMAXSIZE.
pub const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

/// The first bytes from each side: "\0SP", version 0, the socket type, two reserved bytes.
pub const PAIR_GREETING: [u8; 8] = [0, b'S', b'P', 0, 0, 16, 0, 0];

/// The transport of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// Unix sockets: a type byte, always 1, in front of the length.
    Ipc,
    /// TCP: only the length.
    Tcp,
}

impl Mapping {
    const fn header_bytes(self) -> usize {
        match self {
            Mapping::Ipc => 9,
            Mapping::Tcp => 8,
        }
    }

    /// Appends the header of a message of `length` bytes.
    pub fn append_header(self, out: &mut Vec<u8>, length: usize) {
        if self == Mapping::Ipc {
            out.push(1);
        }
        out.extend_from_slice(&(length as u64).to_be_bytes());
    }
}

/// Splits the peer's bytes into messages.
pub struct Decoder {
    mapping: Mapping,
    buffer: Vec<u8>,
    start: usize,
    greeted: bool,
}

impl Decoder {
    /// Creates the decoder for a new peer.
    pub fn new(mapping: Mapping) -> Self {
        Self { mapping, buffer: Vec::new(), start: 0, greeted: false }
    }

    /// Adds received bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns whether the peer's greeting has arrived.
    pub fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// Returns the next message, if it is complete.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, IoError> {
        if !self.greeted && !self.greeting()? {
            return Ok(None);
        }
        let header = self.mapping.header_bytes();
        let rest = &self.buffer[self.start..];
        if rest.len() < header {
            return Ok(None);
        }
        if self.mapping == Mapping::Ipc && rest[0] != 1 {
            return Err(IoError(format!("message type {}; the IPC mapping knows only 1", rest[0])));
        }
        let mut length = [0; 8];
        length.copy_from_slice(&rest[header - 8..header]);
        let length = u64::from_be_bytes(length);
        if length > MAX_MESSAGE_BYTES as u64 {
            return Err(IoError(format!(
                "a message of {length} bytes; at most {MAX_MESSAGE_BYTES} are taken"
            )));
        }
        let length = length as usize;
        if rest.len() < header + length {
            return Ok(None);
        }
        let data = self.start + header;
        self.start = data + length;
        Ok(Some(&self.buffer[data..data + length]))
    }

    fn greeting(&mut self) -> Result<bool, IoError> {
        let Some(greeting) = self.buffer.get(self.start..self.start + PAIR_GREETING.len()) else {
            return Ok(false);
        };
        if greeting[..4] != PAIR_GREETING[..4] {
            return Err(IoError(format!(
                "the peer does not speak nanomsg's protocol; it began with {greeting:02x?}"
            )));
        }
        if greeting != PAIR_GREETING {
            let socket_type = u16::from_be_bytes([greeting[4], greeting[5]]);
            return Err(IoError(format!(
                "the peer's socket has type {socket_type}, this one is a PAIR (16)"
            )));
        }
        self.start += PAIR_GREETING.len();
        self.greeted = true;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in_however_the_stream_is_cut() {
        for mapping in [Mapping::Ipc, Mapping::Tcp] {
            let mut stream = PAIR_GREETING.to_vec();
            for message in [&b"first"[..], b"", b"third"] {
                mapping.append_header(&mut stream, message.len());
                stream.extend_from_slice(message);
            }
            for cut in 1..stream.len() {
                let (mut decoder, mut messages) = (Decoder::new(mapping), Vec::new());
                for part in stream.chunks(cut) {
                    decoder.feed(part);
                    while let Some(message) = decoder.next_message().unwrap() {
                        messages.push(message.to_vec());
                    }
                }
                assert_eq!(messages, [b"first".to_vec(), vec![], b"third".to_vec()]);
            }
        }
    }

    #[test]
    fn the_ipc_header_is_a_one_and_a_big_endian_length() {
        let mut out = Vec::new();
        Mapping::Ipc.append_header(&mut out, 258);
        assert_eq!(out, [1, 0, 0, 0, 0, 0, 0, 1, 2]);
    }

    #[test]
    fn what_is_not_of_a_pair_socket_is_refused_by_what_it_is_before_anything_is_kept() {
        let message = |header: &[u8]| [&PAIR_GREETING, header].concat();
        for (mapping, bytes, problem) in [
            (Mapping::Tcp, b"GET / HTTP/1.1".to_vec(), "it began with [47"),
            (Mapping::Ipc, vec![0, b'S', b'P', 0, 0, 32, 0, 0], "type 32"),
            (Mapping::Tcp, message(&[0xff; 8]), "a message of 18446744073709551615 bytes"),
            (Mapping::Ipc, message(&[2, 0, 0, 0, 0, 0, 0, 0, 0]), "message type 2;"),
        ] {
            let mut decoder = Decoder::new(mapping);
            decoder.feed(&bytes);
            let refusal = decoder.next_message().unwrap_err().to_string();
            assert!(refusal.contains(problem), "{refusal}");
        }
    }
}
