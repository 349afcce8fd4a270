//! The requests of applications to a network, and their outcomes.

use serde::Deserialize;

/// Identifies a transfer: the application, and the application's own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId {
    /// Number of the application in the description.
    pub application: u32,
    /// The application's number of the transfer. Transfers that it need not distinguish share a number.
    pub token: u64,
}

/// The use of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// For this transfer only: opened for it, closed after it.
    Own,
    /// For all transfers of the application with this number, one after the other; opened by the first, or by [`Action::Open`].
    Shared(u32),
}

/// The use of connections in a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConnectionKind {
    /// One connection for all transfers.
    Persistent,
    /// A new connection for each transfer.
    New,
}

impl ConnectionKind {
    pub(crate) fn number(self, number: u32) -> Connection {
        match self {
            ConnectionKind::Persistent => Connection::Shared(number),
            ConnectionKind::New => Connection::Own,
        }
    }
}

/// Bytes sent to a host, and bytes sent back once all of them have arrived. The transfer is finished when these have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Identification.
    pub id: TransferId,
    /// The host that opens the connection and sends the request.
    pub from: u32,
    /// The host that answers.
    pub to: u32,
    /// Bytes of the request, at least one.
    pub request_bytes: u64,
    /// Bytes of the response; if 0, the transfer is finished when the request has arrived.
    pub response_bytes: u64,
    /// The connection to use.
    pub connection: Connection,
    /// A number of the application's choice for transfers that complete together; [`Action::GroupEnds`] ends the group. `None` is a group of its own.
    pub group: Option<u64>,
}

/// A request to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Begin a transfer now.
    Transfer(Transfer),
    /// Open a shared connection now, so that the first transfer over it need not wait for the handshake.
    Open {
        /// The application.
        application: u32,
        /// Number of the connection.
        connection: u32,
        /// The host that opens it.
        from: u32,
        /// The host at the other end.
        to: u32,
    },
    /// A group of transfers is complete: its number may be reused.
    GroupEnds {
        /// The application.
        application: u32,
        /// Its number for the group.
        group: u64,
    },
    /// Send one UDP frame now.
    Frame {
        /// The application that sends the frame.
        application: u32,
        /// The sending host.
        from: u32,
        /// The receiving host.
        to: u32,
        /// Bytes of the frame without FCS.
        frame_bytes: u32,
    },
}

/// The outcome of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bytes have arrived.
    Finished,
    /// The connection has failed.
    Failed,
}
