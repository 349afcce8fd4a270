//! Clone sessions: the destinations of the copies that `clone()` makes. BMv2 calls them mirroring sessions.

use std::collections::BTreeMap;

/// BMv2 keeps session ids in 15 bits.
const MAX_SESSION_ID: u16 = 0x7fff;

/// One session. If both are set, a clone goes to the port and to every member of the group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirroringSession {
    /// Port to which a copy goes.
    pub egress_port: Option<u16>,
    /// Multicast group of which each replica gets a copy.
    pub mgid: Option<u16>,
    /// The value of v1model's `priority` in the copies. BMv2's sessions do not set it: 0.
    pub class_of_service: u8,
    /// Maximum number of bytes of a copy that leave; 0: no limit. BMv2's sessions have no limit.
    pub packet_length_bytes: u32,
}

/// Why a call on a session is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MirroringError {
    /// The id does not fit BMv2's packet register.
    #[error("clone session {0}: ids go from 0 to {MAX_SESSION_ID}")]
    IdRange(u16),
    /// The session does not exist.
    #[error("clone session {0}: is not configured")]
    NotFound(u16),
}

/// The sessions of a switch.
#[derive(Clone, Debug, Default)]
pub struct MirroringSessions {
    sessions: BTreeMap<u16, MirroringSession>,
}

impl MirroringSessions {
    /// Adds a session, or replaces the session with that id.
    pub fn add(&mut self, id: u16, session: MirroringSession) -> Result<(), MirroringError> {
        if id > MAX_SESSION_ID {
            return Err(MirroringError::IdRange(id));
        }
        self.sessions.insert(id, session);
        Ok(())
    }

    /// Deletes a session.
    pub fn delete(&mut self, id: u16) -> Result<(), MirroringError> {
        self.sessions.remove(&id).map(|_| ()).ok_or(MirroringError::NotFound(id))
    }

    /// Returns a session; `None` if it is not configured.
    pub fn get(&self, id: u16) -> Option<MirroringSession> {
        self.sessions.get(&id).copied()
    }

    /// Returns every session in order of its id.
    pub fn iter(&self) -> impl Iterator<Item = (u16, MirroringSession)> + '_ {
        self.sessions.iter().map(|(id, session)| (*id, *session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_zero_and_the_largest_id_exist_and_the_next_is_refused() {
        let mut sessions = MirroringSessions::default();
        let session = MirroringSession { egress_port: Some(4), mgid: None, ..Default::default() };
        assert_eq!(sessions.add(0, session), Ok(()));
        assert_eq!(sessions.add(32767, session), Ok(()));
        assert_eq!(sessions.add(32768, session), Err(MirroringError::IdRange(32768)));
        assert_eq!(sessions.get(0), Some(session));
    }

    #[test]
    fn a_session_is_replaced_by_adding_and_gone_after_deleting() {
        let mut sessions = MirroringSessions::default();
        let to_port = MirroringSession { egress_port: Some(4), mgid: None, ..Default::default() };
        let to_group = MirroringSession { egress_port: None, mgid: Some(9), ..Default::default() };
        sessions.add(1, to_port).unwrap();
        sessions.add(1, to_group).unwrap();
        assert_eq!(sessions.iter().collect::<Vec<_>>(), [(1, to_group)]);
        sessions.delete(1).unwrap();
        assert_eq!(sessions.delete(1), Err(MirroringError::NotFound(1)));
        assert_eq!(sessions.get(1), None);
    }
}
