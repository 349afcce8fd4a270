//! Which ports a connection has, and which connection ports belong to.
//!
//! Ports say the connection's number, so that a segment finds it without a search: the side that opens has ports from 1024 on,
//! the other below; beyond that their numbers mean nothing. A number says the place of the connection's state, and how often the
//! place was used before, so that no two connections that are alive share ports, and a place's ports come back only after
//! [`USES`] connections there.

/// Ports of the side that opens.
const FIRST_CLIENT_PORT: u16 = 1024;
const CLIENT_PORTS: u32 = 64_000;
const NUMBERS: u32 = CLIENT_PORTS * (FIRST_CLIENT_PORT as u32 - 1);

/// Most connections that are alive at a time.
pub(crate) const PLACES: u32 = 1 << 20;

/// Different ports that one place has in turn.
const USES: u32 = NUMBERS / PLACES;

/// A connection's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(u32);

impl Number {
    /// The first of a place.
    pub(crate) fn first(place: u32) -> Self {
        debug_assert!(place < PLACES, "a place is a number below {PLACES}");
        Self(place)
    }

    /// The one of the place's next connection.
    pub(crate) fn next(self) -> Self {
        Self((self.0 + PLACES) % (USES * PLACES))
    }

    pub(crate) fn place(self) -> usize {
        (self.0 % PLACES) as usize
    }

    /// The initial sequence number of the side that opens. They need only differ from connection to connection (RFC 9293,
    /// 3.4.1); these do, and a run can be repeated.
    pub(crate) fn isn(self) -> u32 {
        self.0.wrapping_mul(0x9E37_79B9)
    }

    /// Port of the side that opens, and of the other.
    pub(crate) fn ports(self) -> [u16; 2] {
        [FIRST_CLIENT_PORT + (self.0 % CLIENT_PORTS) as u16, 1 + (self.0 / CLIENT_PORTS) as u16]
    }

    /// The connection with this port at one end and that at the other, and whether the first is the side that opens.
    pub(crate) fn of(own: u16, peer: u16) -> Option<(Self, bool)> {
        let opens = own >= FIRST_CLIENT_PORT;
        let (client, server) = if opens { (own, peer) } else { (peer, own) };
        let client = u32::from(client.checked_sub(FIRST_CLIENT_PORT)?);
        let server = u32::from(server.checked_sub(1)?);
        (client < CLIENT_PORTS && server < u32::from(FIRST_CLIENT_PORT) - 1)
            .then(|| (Self(server * CLIENT_PORTS + client), opens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_tell_the_connection_and_its_side() {
        for place in [0, 1, 63_999, 64_000, PLACES - 1] {
            let mut number = Number::first(place);
            for _ in 0..USES {
                let [client, server] = number.ports();
                assert_eq!(Number::of(client, server), Some((number, true)));
                assert_eq!(Number::of(server, client), Some((number, false)));
                assert_eq!(number.place(), place as usize);
                number = number.next();
            }
            assert_eq!(number, Number::first(place));
        }
    }

    #[test]
    fn ports_of_no_connection_are_refused() {
        for (own, peer) in [(0, 1024), (1024, 0), (1, 2), (2000, 3000), (65_100, 1), (1023, 65_535)] {
            assert_eq!(Number::of(own, peer), None, "{own} {peer}");
        }
    }
}
