//! What applications ask of a network, and what becomes of it.

use serde::Deserialize;

/// Says whose a transfer is: the application, and that application's own number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId {
    /// Number of the application in the description.
    pub application: u32,
    /// The application's name for it. Transfers that it need not distinguish have the same.
    pub token: u64,
}

/// What a connection is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// This transfer only: opened for it, closed after it.
    Own,
    /// All transfers of the application with this number, one after the other; opened by the first, or by [`Action::Open`].
    Shared(u32),
}

/// What a description says of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConnectionKind {
    /// One for all transfers.
    Persistent,
    /// One for each.
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

/// Bytes that go there, and bytes that come back when all of them have arrived. It is finished when these have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Name.
    pub id: TransferId,
    /// The host that opens the connection and asks.
    pub from: u32,
    /// The host that answers.
    pub to: u32,
    /// Bytes that are sent first, at least one.
    pub request_bytes: u64,
    /// Bytes of the answer; with none, the transfer is finished when the request has arrived.
    pub response_bytes: u64,
    /// Over which connection.
    pub connection: Connection,
    /// What it is waited for with: a number of the application's choice, which [`Action::GroupEnds`] ends. Without one it stands alone.
    pub group: Option<u64>,
}

/// What a driver is to do.
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
        /// The host that it is opened to.
        to: u32,
    },
    /// A group of transfers has had its last: its number may come back for another.
    GroupEnds {
        /// The application.
        application: u32,
        /// Its number for the group.
        group: u64,
    },
    /// Send one UDP frame now.
    Frame {
        /// The application whose frame it is.
        application: u32,
        /// The host that sends.
        from: u32,
        /// The host that it goes to.
        to: u32,
        /// Bytes of the frame without FCS.
        frame_bytes: u32,
    },
}

/// What has become of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bytes have arrived.
    Finished,
    /// The connection has been given up.
    Failed,
}
