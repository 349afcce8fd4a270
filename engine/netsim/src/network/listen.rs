//! Frames that arrive at hosts to which a caller listens, for example to answer in their place.

use std::collections::VecDeque;

use units::Time;

use crate::limits::MAX_HEARD;

/// A frame that has arrived at a host, whether or not it was addressed to this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// When its last bit arrived.
    pub at: Time,
    /// Index of the host.
    pub host: usize,
    /// The whole frame, without FCS.
    pub frame: Vec<u8>,
}

/// Frames that wait for the listener.
#[derive(Default)]
pub(crate) struct Listener {
    pub(crate) heard: VecDeque<Heard>,
    pub(crate) lost: u64,
}

impl Listener {
    /// Keeps a frame, or counts it as lost if too many wait.
    pub(super) fn hear(&mut self, at: Time, host: usize, frame: &[u8]) {
        if self.heard.len() < MAX_HEARD {
            self.heard.push_back(Heard { at, host, frame: frame.to_vec() });
        } else {
            self.lost += 1;
        }
    }
}
