//! One nanomsg PAIR socket for all ports: BMv2's `--packet-in`, PTF's `nn` platform. Needs no root.
//!
//! As in BMv2, the switch listens and accepts every port number. Messages of the peer that add ports or set them down
//! are recorded but have no effect. A PAIR has one peer: a second one waits until the first has gone.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::net::{TcpListener, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{accept_with, send, SendFlags, SocketFlags};

use crate::message::{self, Request};
use crate::sp::{Decoder, Mapping, PAIR_GREETING};
use crate::{IoCounts, IoError, Poller, PortInfo, PortIo};

const LISTENER: u64 = 0;
const PEER: u64 = 1;
/// v1model's ports have 9 bits.
const PORTS: std::ops::Range<i32> = 0..512;
/// Limit on the data for a peer that does not read. Further frames are dropped and counted.
const PENDING_LIMIT: usize = 8 << 20;
const READ_BYTES: usize = 64 << 10;
const EVENT_LIMIT: usize = 64;

struct Peer {
    stream: OwnedFd,
    decoder: Decoder,
    pending: Vec<u8>,
    is_readable: bool,
}

/// The PAIR socket.
pub struct PacketIn {
    address: String,
    listener: OwnedFd,
    /// The socket's file, if it is a Unix socket.
    path: Option<PathBuf>,
    mapping: Mapping,
    peer: Option<Peer>,
    /// Ports that the peer has added.
    ports: BTreeSet<i32>,
    /// Ports that the peer has removed.
    removed: BTreeSet<i32>,
    room: Vec<u8>,
    events: VecDeque<String>,
    counts: IoCounts,
}

impl PacketIn {
    /// Listens at `ipc://PATH` or `tcp://HOST:PORT`; `*` means every address of this machine.
    pub fn listen(address: &str) -> Result<Self, IoError> {
        let failed = |reason: io::Error| IoError(format!("address '{address}': {reason}"));
        let (listener, path, mapping) = if let Some(path) = address.strip_prefix("ipc://") {
            (listen_unix(path).map_err(failed)?.into(), Some(PathBuf::from(path)), Mapping::Ipc)
        } else if let Some(place) = address.strip_prefix("tcp://") {
            (listen_tcp(place).map_err(failed)?.into(), None, Mapping::Tcp)
        } else {
            return Err(failed(io::Error::other("starts with neither ipc:// nor tcp://")));
        };
        Ok(Self {
            address: address.to_owned(),
            listener,
            path,
            mapping,
            peer: None,
            ports: BTreeSet::new(),
            removed: BTreeSet::new(),
            room: vec![0; READ_BYTES],
            events: VecDeque::new(),
            counts: IoCounts::default(),
        })
    }

    fn event(&mut self, text: String) {
        if self.events.len() < EVENT_LIMIT {
            self.events.push_back(text);
        }
    }

    /// Accepts the next waiting peer, if any.
    fn accept(&mut self, poller: &Poller) -> Result<(), IoError> {
        let accepted = accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC);
        let accepted = accepted.and_then(|stream| {
            if self.mapping == Mapping::Tcp {
                set_tcp_nodelay(&stream, true)?;
            }
            Ok(stream)
        });
        let stream = match accepted {
            Ok(stream) => stream,
            // Harmless: the next turn tries again.
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(()),
            Err(error) => {
                let text = format!("{}: a peer could not be accepted: {error}", self.address);
                self.event(text);
                return Ok(());
            }
        };
        poller.add_edge(&stream, PEER)?;
        let decoder = Decoder::new(self.mapping);
        let pending = PAIR_GREETING.to_vec();
        self.peer = Some(Peer { stream, decoder, pending, is_readable: true });
        let text = format!("{}: a peer has connected", self.address);
        self.event(text);
        self.flush_peer();
        Ok(())
    }

    fn lose_peer(&mut self, why: impl Display) {
        self.peer = None;
        self.ports.clear();
        self.removed.clear();
        let text = format!("{}: the peer is gone: {why}", self.address);
        self.event(text);
    }

    fn flush_peer(&mut self) {
        let Some(peer) = &mut self.peer else { return };
        let mut written = 0;
        let mut problem = None;
        while written < peer.pending.len() {
            match send(&peer.stream, &peer.pending[written..], SendFlags::NOSIGNAL) {
                Ok(count) => written += count,
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => break,
                Err(error) => {
                    problem = Some(error);
                    break;
                }
            }
        }
        peer.pending.drain(..written);
        if let Some(problem) = problem {
            self.lose_peer(problem);
        }
    }

    /// Handles the available messages. An error is the reason for disconnecting the peer.
    fn handle_messages(&mut self, deliver: &mut dyn FnMut(u16, &[u8])) -> Result<(), IoError> {
        let Some(peer) = &mut self.peer else { return Ok(()) };
        loop {
            let Some(message) = peer.decoder.next_message()? else { return Ok(()) };
            match message::parse(message) {
                Some(Request::PacketIn(port, frame)) if PORTS.contains(&port) => deliver(port as u16, frame),
                Some(Request::PortAdd(port)) if PORTS.contains(&port) => {
                    self.ports.insert(port);
                    self.removed.remove(&port);
                }
                Some(Request::PortRemove(port)) => {
                    if self.ports.remove(&port) {
                        self.removed.insert(port);
                    }
                }
                Some(Request::PortSetStatus(_)) => {}
                Some(Request::Info(port, kind)) => {
                    let reply = message::info_reply(port, kind);
                    if peer.pending.len() < PENDING_LIMIT {
                        self.mapping.append_header(&mut peer.pending, reply.len());
                        peer.pending.extend_from_slice(&reply);
                    }
                }
                Some(Request::PacketIn(..) | Request::PortAdd(_)) | None => self.counts.rx_malformed += 1,
            }
        }
    }
}

/// Listens on a Unix socket, and replaces a socket file whose owner is gone.
fn listen_unix(path: &str) -> io::Result<UnixListener> {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn listen_tcp(place: &str) -> io::Result<TcpListener> {
    let place = place.strip_prefix('*').map_or(place.to_owned(), |port| format!("0.0.0.0{port}"));
    let addresses: Vec<_> = place
        .to_socket_addrs()
        .map_err(|error| io::Error::other(format!("{error}; it takes tcp://IP:PORT")))?
        .collect();
    let listener = TcpListener::bind(&*addresses)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

impl Drop for PacketIn {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // It may have been removed already.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl PortIo for PacketIn {
    fn register(&mut self, poller: &Poller) -> Result<(), IoError> {
        poller.add_edge(&self.listener, LISTENER)
    }

    fn receive(
        &mut self,
        poller: &Poller,
        ready: &[u64],
        deliver: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<bool, IoError> {
        if self.peer.is_none() {
            self.accept(poller)?;
        } else if ready.contains(&LISTENER) {
            let text =
                format!("{}: another peer waits until this one has gone: a PAIR has two ends", self.address);
            self.event(text);
        }
        if ready.contains(&PEER) {
            self.flush_peer();
            if let Some(peer) = &mut self.peer {
                peer.is_readable = true;
            }
        }
        let Some(peer) = self.peer.as_mut().filter(|peer| peer.is_readable) else { return Ok(false) };
        match rustix::io::read(&peer.stream, &mut self.room) {
            Ok(0) => {
                self.lose_peer("it closed the connection");
                return Ok(false);
            }
            Ok(count) => peer.decoder.feed(&self.room[..count]),
            Err(Errno::INTR) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {
                peer.is_readable = false;
                return Ok(false);
            }
            Err(error) => {
                self.lose_peer(error);
                return Ok(false);
            }
        }
        if let Err(problem) = self.handle_messages(deliver) {
            self.counts.rx_malformed += 1;
            self.lose_peer(problem);
            return Ok(false);
        }
        self.flush_peer();
        Ok(true)
    }

    fn send(&mut self, frames: &mut dyn Iterator<Item = (u16, &[u8])>) {
        for (port, frame) in frames {
            match &mut self.peer {
                Some(peer) if peer.decoder.is_greeted() => {
                    if peer.pending.len() + frame.len() > PENDING_LIMIT {
                        self.counts.tx_full += 1;
                        continue;
                    }
                    let header = message::packet_out(port, frame.len());
                    self.mapping.append_header(&mut peer.pending, header.len() + frame.len());
                    peer.pending.extend_from_slice(&header);
                    peer.pending.extend_from_slice(frame);
                }
                _ => self.counts.tx_down += 1,
            }
        }
        self.flush_peer();
    }

    fn maintain(&mut self, event: &mut dyn FnMut(String)) {
        self.flush_peer();
        self.events.drain(..).for_each(event);
    }

    fn ports(&self) -> Vec<PortInfo> {
        let info = |port: &i32, is_up| PortInfo { port: *port as u16, name: self.address.clone(), is_up };
        let added = self.ports.iter().map(|port| info(port, true));
        added.chain(self.removed.iter().map(|port| info(port, false))).collect()
    }

    fn counts(&self) -> IoCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::time::Duration;

    /// Returns a socket path for this test.
    fn place(name: &str) -> (PathBuf, String) {
        let path = std::env::temp_dir().join(format!("port_io-{}-{name}.ipc", std::process::id()));
        let address = format!("ipc://{}", path.display());
        (path, address)
    }

    /// Runs the socket until `done`. Returns the received frames.
    fn work(
        socket: &mut PacketIn,
        poller: &Poller,
        done: impl Fn(&[(u16, Vec<u8>)]) -> bool,
    ) -> Vec<(u16, Vec<u8>)> {
        let (mut ready, mut frames) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            poller.wait(Duration::from_millis(20), &mut ready).unwrap();
            let mut keep = |port, frame: &[u8]| frames.push((port, frame.to_vec()));
            while socket.receive(poller, &ready, &mut keep).unwrap() {
                ready.clear();
            }
            if done(&frames) {
                break;
            }
        }
        frames
    }

    fn message(kind: i32, port: i32, more: i32, frame: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        Mapping::Ipc.append_header(&mut bytes, 12 + frame.len());
        for word in [kind, port, more] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend_from_slice(frame);
        bytes
    }

    #[test]
    fn a_peer_sends_and_receives_frames_and_a_second_one_waits_until_it_has_gone() {
        let (path, address) = place("exchange");
        let poller = Poller::new().unwrap();
        let mut socket = PacketIn::listen(&address).unwrap();
        socket.register(&poller).unwrap();
        let mut peer = UnixStream::connect(&path).unwrap();
        peer.write_all(&PAIR_GREETING).unwrap();
        peer.write_all(&message(3, 4, 5, b"hello")).unwrap();
        peer.write_all(&message(3, 999, 2, b"no")).unwrap();
        let frames = work(&mut socket, &poller, |frames| !frames.is_empty());
        assert_eq!(frames, [(4, b"hello".to_vec())]);
        assert_eq!(socket.counts().rx_malformed, 1, "port 999");

        socket.send(&mut [(7u16, &b"answer"[..])].into_iter());
        let mut expected = PAIR_GREETING.to_vec();
        expected.extend(message(4, 7, 6, b"answer"));
        let mut got = vec![0; expected.len()];
        peer.read_exact(&mut got).unwrap();
        assert_eq!(got, expected);

        let mut second = UnixStream::connect(&path).unwrap();
        second.write_all(&PAIR_GREETING).unwrap();
        second.write_all(&message(3, 5, 6, b"second")).unwrap();
        assert_eq!(work(&mut socket, &poller, |_| false), []);
        peer.write_all(&message(3, 4, 4, b"last")).unwrap();
        drop(peer);
        let frames = work(&mut socket, &poller, |frames| frames.len() == 2);
        assert_eq!(frames, [(4, b"last".to_vec()), (5, b"second".to_vec())]);
        drop(socket);
        assert!(!path.exists(), "the socket's file is removed");
    }

    #[test]
    fn frames_without_a_peer_or_before_its_greeting_are_counted() {
        let (path, address) = place("alone");
        let poller = Poller::new().unwrap();
        let mut socket = PacketIn::listen(&address).unwrap();
        socket.register(&poller).unwrap();
        socket.send(&mut [(1u16, &b"x"[..])].into_iter());
        let _peer = UnixStream::connect(&path).unwrap();
        work(&mut socket, &poller, |_| true);
        socket.send(&mut [(1u16, &b"x"[..])].into_iter());
        assert_eq!(socket.counts().tx_down, 2);
    }

    #[test]
    fn a_socket_file_whose_owner_is_gone_is_replaced_and_a_living_one_is_not() {
        let (path, address) = place("stale");
        drop(UnixListener::bind(&path).unwrap());
        let living = PacketIn::listen(&address).unwrap();
        assert!(PacketIn::listen(&address).is_err());
        drop(living);
    }

    #[test]
    fn an_address_of_another_kind_is_refused_by_name() {
        let error = PacketIn::listen("inproc://x").err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("address 'inproc://x': starts with neither ipc:// nor tcp://"));
    }
}
