//! The ports of a connection, and the connection of a pair of ports.
//!
//! The ports encode the connection's number, so that a segment finds it without a search. The opening side has ports
//! from 1024 on, the other side ports below; beyond that, ports have no meaning. A number encodes the slot of the
//! connection's state and how often the slot was used before, so no two live connections share ports, and a slot's
//! ports are reused only after [`USES`] connections there.

use std::num::NonZeroU32;

use crate::limits::MAX_CONNECTIONS;

/// Ports of the opening side.
const FIRST_CLIENT_PORT: u16 = 1024;
const CLIENT_PORTS: u32 = 64_000;
const NUMBERS: u32 = CLIENT_PORTS * (FIRST_CLIENT_PORT as u32 - 1);

/// Number of different ports that one slot has in turn.
const USES: u32 = NUMBERS / MAX_CONNECTIONS;

/// A connection's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(u32);

impl Number {
    /// Returns the first number of a slot.
    pub(super) fn first(slot: u32) -> Self {
        debug_assert!(slot < MAX_CONNECTIONS, "a slot is a number below {MAX_CONNECTIONS}");
        Self(slot)
    }

    /// Returns the number of the slot's next connection.
    pub(super) fn next(self) -> Self {
        Self((self.0 + MAX_CONNECTIONS) % (USES * MAX_CONNECTIONS))
    }

    pub(super) fn slot(self) -> usize {
        (self.0 % MAX_CONNECTIONS) as usize
    }

    /// Returns the initial sequence number of the opening side. These need only differ from connection to connection
    /// (RFC 9293, 3.4.1); these do, and a run can be repeated.
    pub(super) fn isn(self) -> u32 {
        self.0.wrapping_mul(0x9E37_79B9)
    }

    /// Returns the source and the destination port of the frames of the opening side (0) or of the other one (1).
    pub(super) fn ports(self, side: usize) -> [u16; 2] {
        let client = FIRST_CLIENT_PORT + (self.0 % CLIENT_PORTS) as u16;
        let server = 1 + (self.0 / CLIENT_PORTS) as u16;
        if side == 0 {
            [client, server]
        } else {
            [server, client]
        }
    }

    /// Returns one side of the connection as a nonzero number.
    pub(super) fn owner(self, side: usize) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(2 * self.0 + side as u32)
    }

    /// Returns the connection and the side from which [`Number::owner`] made `owner`.
    pub(super) fn of_owner(owner: NonZeroU32) -> (Self, usize) {
        let number = owner.get() - 1;
        (Self(number / 2), (number % 2) as usize)
    }

    /// Returns the connection with port `own` at one end and `peer` at the other, and whether `own` is the opening side's.
    pub(super) fn of(own: u16, peer: u16) -> Option<(Self, bool)> {
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
        for slot in [0, 1, 63_999, 64_000, MAX_CONNECTIONS - 1] {
            let mut number = Number::first(slot);
            for _ in 0..USES {
                let [client, server] = number.ports(0);
                assert_eq!(Number::of(client, server), Some((number, true)));
                assert_eq!(Number::of(server, client), Some((number, false)));
                assert_eq!(number.slot(), slot as usize);
                for side in [0, 1] {
                    assert_eq!(Number::of_owner(number.owner(side)), (number, side));
                }
                number = number.next();
            }
            assert_eq!(number, Number::first(slot));
        }
    }

    #[test]
    fn ports_of_no_connection_are_refused() {
        for (own, peer) in [(0, 1024), (1024, 0), (1, 2), (2000, 3000), (65_100, 1), (1023, 65_535)] {
            assert_eq!(Number::of(own, peer), None, "{own} {peer}");
        }
    }
}
