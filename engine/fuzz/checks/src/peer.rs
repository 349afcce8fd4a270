//! Input from other processes and the kernel: nanomsg streams and their messages, and frames with unfinished offloads.

use port_io::message;
use port_io::offload::{complete_checksum, segment, VnetHeader, VNET_HEADER_BYTES};
use port_io::sp::{Decoder, Mapping, PAIR_GREETING};
use port_io::IoError;

/// Runs the target. The first byte determines the type of the rest: a stream (with its greeting, or after one), or an unfinished frame.
pub fn peer(bytes: &[u8]) {
    let Some((what, rest)) = bytes.split_first() else { return };
    let mapping = if what & 1 == 0 { Mapping::Ipc } else { Mapping::Tcp };
    match what & 6 {
        0 => stream(mapping, rest),
        2 => stream(mapping, &[&PAIR_GREETING, rest].concat()),
        4 => {
            let _ = message::parse(rest);
        }
        _ => unfinished_frame(rest),
    }
}

/// Checks that the stream gives the same messages wherever it is divided.
fn stream(mapping: Mapping, bytes: &[u8]) {
    let whole = messages(mapping, bytes, bytes.len().max(1));
    assert_eq!(whole, messages(mapping, bytes, 1 + bytes.len() % 7));
    for message in whole.0 {
        assert!(message.len() <= bytes.len());
        // It may be refused or accepted.
        let _ = message::parse(&message);
    }
}

fn messages(mapping: Mapping, bytes: &[u8], piece: usize) -> (Vec<Vec<u8>>, Option<IoError>) {
    let mut decoder = Decoder::new(mapping);
    let mut messages = Vec::new();
    for part in bytes.chunks(piece) {
        decoder.feed(part);
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => messages.push(message.to_vec()),
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
    }
    (messages, None)
}

fn unfinished_frame(bytes: &[u8]) {
    let Some((header, frame)) = bytes.split_first_chunk::<VNET_HEADER_BYTES>() else { return };
    let header = VnetHeader::parse(header);
    let mut completed = frame.to_vec();
    if !complete_checksum(&header, &mut completed) {
        assert_eq!(completed, frame, "a checksum that has no place was written");
    }
    let (mut count, mut payload) = (0, 0);
    let cut = segment(&header, frame, &mut Vec::new(), &mut |part| {
        assert!(part.len() <= frame.len(), "a part of {} bytes of a frame of {}", part.len(), frame.len());
        count += 1;
        payload += part.len();
    });
    assert_eq!(cut, count > 0);
    // Each part repeats the headers.
    assert!(payload <= frame.len() * count.max(1));
}
