//! The messages between BMv2 (`bm_sim/dev_mgr_packet_in.cpp`) and PTF's `nn` platform: three 32-bit integers in the
//! machine's byte order (type, port, and a value that depends on the type), then a frame if there is one.

const HEADER_BYTES: usize = 12;

const PORT_ADD: i32 = 0;
const PORT_REMOVE: i32 = 1;
const PORT_SET_STATUS: i32 = 2;
const PACKET_IN: i32 = 3;
const PACKET_OUT: i32 = 4;
const INFO_REQ: i32 = 5;
const INFO_REP: i32 = 6;
/// Lets the peer use its own knowledge; BMv2 gives this answer to every request.
const INFO_NOT_SUPPORTED: i32 = 1;

/// A request of the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// The peer starts to use this port.
    PortAdd(i32),
    /// The peer no longer uses it.
    PortRemove(i32),
    /// The peer sets a port up or down. BMv2 and PTF use the same two numbers with opposite meanings, and BMv2 ignores the message.
    PortSetStatus(i32),
    /// A frame arrives on a port.
    PacketIn(i32, &'a [u8]),
    /// A query about a port, with the requested kind of answer.
    Info(i32, i32),
}

/// Parses a message. Returns nothing if it is too short, not a request, or a packet of another length than its header says.
pub fn parse(message: &[u8]) -> Option<Request<'_>> {
    let (header, rest) = message.split_at_checked(HEADER_BYTES)?;
    let word = |place: usize| {
        i32::from_ne_bytes([header[place], header[place + 1], header[place + 2], header[place + 3]])
    };
    let (kind, port, more) = (word(0), word(4), word(8));
    match kind {
        PORT_ADD => Some(Request::PortAdd(port)),
        PORT_REMOVE => Some(Request::PortRemove(port)),
        PORT_SET_STATUS => Some(Request::PortSetStatus(port)),
        PACKET_IN if usize::try_from(more) == Ok(rest.len()) => Some(Request::PacketIn(port, rest)),
        INFO_REQ => Some(Request::Info(port, more)),
        _ => None,
    }
}

/// Returns the header for a departing frame; the frame follows it.
pub fn packet_out(port: u16, length: usize) -> [u8; HEADER_BYTES] {
    header(PACKET_OUT, i32::from(port), length as i32)
}

/// Returns the answer to a query about a port: not supported.
pub fn info_reply(port: i32, kind: i32) -> [u8; HEADER_BYTES + 4] {
    let mut reply = [0; HEADER_BYTES + 4];
    reply[..HEADER_BYTES].copy_from_slice(&header(INFO_REP, port, kind));
    reply[HEADER_BYTES..].copy_from_slice(&INFO_NOT_SUPPORTED.to_ne_bytes());
    reply
}

fn header(kind: i32, port: i32, more: i32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    for (place, word) in header.chunks_exact_mut(4).zip([kind, port, more]) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_refused() {
        for (kind, length) in [(PACKET_IN, -1), (PACKET_IN, 1_000_000), (PACKET_OUT, 0), (99, 0)] {
            assert_eq!(parse(&header(kind, 1, length)), None);
        }
        assert_eq!(parse(&header(PORT_ADD, 1, 0)[1..]), None);
    }

    #[test]
    fn a_question_about_a_port_is_answered_with_not_supported() {
        assert_eq!(parse(&header(INFO_REQ, 2, 1)), Some(Request::Info(2, 1)));
        let reply = info_reply(2, 1);
        assert_eq!(reply[..12], header(INFO_REP, 2, 1));
        assert_eq!(reply[12..], 1i32.to_ne_bytes());
    }
}
