//! Network interfaces as ports, through AF_PACKET.
//!
//! Frames are received and sent in batches of one system call. They pass the interface's queueing discipline, as with
//! libpcap, so links shaped with `tc` stay shaped. Work that veth pairs leave undone (checksums, segmentation, VLAN
//! tags stored outside the frame) is done before a frame is delivered: the switch sees the frames of a real wire.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::net::sockopt;

use crate::offload::{self, VnetHeader, VNET_HEADER_BYTES};
use crate::pcap_output::Output;
use crate::{sys, IoCounts, IoError, Poller, PortInfo, PortIo};

/// Maximum number of frames per `recvmmsg`.
const BATCH: usize = 64;
/// Maximum number of frames delivered before other ports, transmission and control calls get their turn.
const FRAMES_PER_TURN: usize = 256;
/// The longest GSO super-frame without BIG TCP, including its headers and the kernel's own header.
const BUFFER_BYTES: usize = VNET_HEADER_BYTES + 65_536 + 256;
/// Kernel buffer for frames that wait for the switch: a few thousand frames, because the kernel includes its own overhead.
const RECEIVE_BUFFER_BYTES: usize = 8 << 20;
const SEND_BUFFER_BYTES: usize = 8 << 20;

const MAC_ADDRESSES_BYTES: usize = 12;

/// An open interface.
pub struct Interface {
    name: String,
    fd: OwnedFd,
    index: i32,
    is_up: bool,
    has_vnet_header: bool,
    capture: Option<(Output, Output)>,
}

impl Interface {
    /// Opens an interface. `capture` is the folder for `NAME_in.pcap` and `NAME_out.pcap`.
    pub fn open(port: u16, name: &str, capture: Option<&Path>) -> Result<Self, IoError> {
        let failed = |doing: &'static str| {
            move |source: io::Error| {
                let hint = match source.raw_os_error() {
                    Some(libc::EPERM) => {
                        "; packet sockets need root or CAP_NET_RAW. Ports without: --packet-in or --use-files"
                    }
                    Some(libc::ENODEV) => "; `ip link` lists those that exist in this network namespace",
                    _ => "",
                };
                IoError(format!("interface '{name}' (port {port}): {doing}: {source}{hint}"))
            }
        };
        let fd = sys::packet_socket().map_err(failed("cannot open a packet socket"))?;
        let (index, is_up) = sys::interface(&fd, name).map_err(failed("cannot find it"))?;
        let has_vnet_header = sys::enable_vnet_header(&fd).is_ok();
        sys::enable_auxdata(&fd).map_err(failed("PACKET_AUXDATA"))?;
        // Without this option (Linux before 4.20), the packet type identifies frames that the switch has sent.
        let _ = sys::ignore_outgoing(&fd);
        sys::set_buffer(&fd, true, RECEIVE_BUFFER_BYTES);
        sys::bind(&fd, index).map_err(failed("cannot bind to it"))?;
        sys::set_promiscuous(&fd, index).map_err(failed("promiscuous mode"))?;
        // An interface that is down reports this as an error on the socket; `maintain` notices when it comes up.
        let _ = sockopt::socket_error(&fd);
        let capture = capture
            .map(|folder| {
                let output = |suffix| Output::create(port, folder.join(format!("{name}_{suffix}.pcap")));
                Ok((output("in")?, output("out")?))
            })
            .transpose()?;
        Ok(Self { name: name.to_owned(), fd, index, is_up, has_vnet_header, capture })
    }

    /// Returns a description of the interface's state at opening, for users.
    pub fn describe(&self) -> String {
        let link = if self.is_up { "up" } else { "down; the switch waits for it" };
        let offloads = if self.has_vnet_header {
            "checksums and segments that senders leave to a NIC are completed"
        } else {
            "the kernel does not tell about offloads: turn them off where frames come from (ethtool -K IFACE tx off tso off gso off)"
        };
        format!("interface {}: {link}; {offloads}", self.name)
    }

    /// Checks whether the interface still exists and is up. Binds again if another interface has taken its name.
    fn look(&mut self, port: u16) -> Option<String> {
        let (index, is_up) = sys::interface(&self.fd, &self.name).unwrap_or((0, false));
        let name = &self.name;
        if index == 0 {
            let was = std::mem::replace(&mut self.index, 0);
            self.is_up = false;
            return (was != 0)
                .then(|| format!("port {port}: interface {name} has vanished; waiting for its return"));
        }
        if index != self.index {
            if sys::bind(&self.fd, index).is_err() || sys::set_promiscuous(&self.fd, index).is_err() {
                return None;
            }
            let _ = sockopt::socket_error(&self.fd);
            (self.index, self.is_up) = (index, is_up);
            let link = if is_up { "up" } else { "down" };
            return Some(format!("port {port}: interface {name} is back, {link}"));
        }
        if is_up == self.is_up {
            return None;
        }
        self.is_up = is_up;
        Some(format!("port {port}: interface {name} is {}", if is_up { "up" } else { "down" }))
    }
}

/// All interfaces of a switch.
pub struct Interfaces {
    ports: Vec<(u16, Interface)>,
    /// Ports registered with the poller.
    registered: Vec<u16>,
    /// One socket sends for all interfaces: each frame has its interface's index. The first interface opens it: a switch
    /// without interfaces needs no privilege.
    sender: Option<OwnedFd>,
    batch: sys::ReceiveBatch,
    /// The position at which the next turn begins, so that no port is always first.
    turn: usize,
    repair: Repair,
    counts: IoCounts,
}

/// Scratch buffers for frames that must be completed.
#[derive(Default)]
struct Repair {
    segment: Vec<u8>,
    tagged: Vec<u8>,
}

impl Interfaces {
    /// Creates ports from opened interfaces.
    pub fn new(ports: Vec<(u16, Interface)>) -> Result<Self, IoError> {
        let mut this = Self {
            ports: Vec::new(),
            registered: Vec::new(),
            sender: None,
            batch: sys::ReceiveBatch::new(BATCH, BUFFER_BYTES),
            turn: 0,
            repair: Repair::default(),
            counts: IoCounts::default(),
        };
        for (port, interface) in ports {
            this.add(port, interface)?;
        }
        Ok(this)
    }

    fn find(&self, port: u16) -> Result<usize, usize> {
        self.ports.binary_search_by_key(&port, |(port, _)| *port)
    }

    fn send_batch(&mut self, mut frames: &[(i32, &[u8])]) {
        let Some(sender) = &self.sender else { return };
        while !frames.is_empty() {
            match sys::send(sender, frames) {
                // The kernel stops at the first frame that it refuses, and returns the error when that frame is the first of a call.
                Ok(count) => frames = &frames[count.max(1)..],
                Err(error) => {
                    match error.raw_os_error() {
                        Some(libc::ENOBUFS | libc::EAGAIN | libc::ENOMEM) => self.counts.tx_full += 1,
                        Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => self.counts.tx_down += 1,
                        _ => self.counts.tx_refused += 1,
                    }
                    frames = &frames[1..];
                }
            }
        }
    }
}

impl Repair {
    /// Delivers a received frame in the form in which a wire would have carried it, possibly as several frames.
    fn pass(
        &mut self,
        header: &VnetHeader,
        vlan: Option<(u16, u16)>,
        frame: &mut [u8],
        counts: &mut IoCounts,
        deliver: &mut dyn FnMut(&[u8]),
    ) {
        let tagged = &mut self.tagged;
        let mut deliver = |frame: &[u8]| match vlan {
            None => deliver(frame),
            Some((tpid, tci)) => {
                tagged.clear();
                tagged.extend_from_slice(&frame[..MAC_ADDRESSES_BYTES]);
                tagged.extend_from_slice(&tpid.to_be_bytes());
                tagged.extend_from_slice(&tci.to_be_bytes());
                tagged.extend_from_slice(&frame[MAC_ADDRESSES_BYTES..]);
                deliver(tagged);
            }
        };
        if frame.len() < wire::ethernet::HEADER_LEN {
            counts.rx_malformed += 1;
        } else if header.is_complete() {
            deliver(frame);
        } else if header.is_super_frame() {
            if offload::segment(header, frame, &mut self.segment, &mut deliver) {
                counts.rx_gso_segmented += 1;
            } else {
                counts.rx_gso_refused += 1;
            }
        } else if offload::complete_checksum(header, frame) {
            counts.rx_checksums_completed += 1;
            deliver(frame);
        } else {
            counts.rx_malformed += 1;
        }
    }
}

impl PortIo for Interfaces {
    fn register(&mut self, poller: &Poller) -> Result<(), IoError> {
        for (port, interface) in &self.ports {
            if !self.registered.contains(port) {
                poller.add(&interface.fd, u64::from(*port))?;
                self.registered.push(*port);
            }
        }
        Ok(())
    }

    fn receive(
        &mut self,
        _: &Poller,
        ready: &[u64],
        deliver: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<bool, IoError> {
        let (mut frames, mut more) = (0, false);
        self.turn = self.turn.wrapping_add(1);
        for step in 0..ready.len() {
            if frames >= FRAMES_PER_TURN {
                return Ok(true);
            }
            let key = ready[self.turn.wrapping_add(step) % ready.len()];
            let Ok(place) = self.find(key as u16) else { continue };
            let (port, interface) = &mut self.ports[place];
            let got = match self.batch.receive(&interface.fd) {
                Ok(got) => got,
                Err(error) => {
                    match error.raw_os_error() {
                        Some(libc::EAGAIN | libc::EINTR) => {}
                        // The kernel cannot describe this super-frame in a virtio_net_hdr, and has dropped it.
                        Some(libc::EINVAL) => self.counts.rx_gso_refused += 1,
                        // The interface is down or gone: `maintain` reports this.
                        _ => {}
                    }
                    continue;
                }
            };
            frames += got;
            more |= got == BATCH;
            for (received, buffer) in self.batch.frames() {
                if received.outgoing {
                    continue;
                }
                if received.truncated {
                    self.counts.rx_truncated += 1;
                    continue;
                }
                let buffer = &mut buffer[..received.length];
                let (header, frame) = if interface.has_vnet_header {
                    let Some((header, frame)) = buffer.split_first_chunk_mut() else {
                        self.counts.rx_malformed += 1;
                        continue;
                    };
                    (VnetHeader::parse(header), frame)
                } else {
                    (VnetHeader::default(), buffer)
                };
                self.repair.pass(&header, received.vlan, frame, &mut self.counts, &mut |frame| {
                    if let Some((input, _)) = &mut interface.capture {
                        input.append(frame);
                    }
                    deliver(*port, frame);
                });
            }
        }
        Ok(more)
    }

    fn send(&mut self, frames: &mut dyn Iterator<Item = (u16, &[u8])>) {
        let mut batch: [(i32, &[u8]); BATCH] = [(0, &[]); BATCH];
        let mut count = 0;
        for (port, frame) in frames {
            let Ok(place) = self.find(port) else {
                self.counts.tx_no_port += 1;
                continue;
            };
            let interface = &mut self.ports[place].1;
            if interface.index == 0 {
                self.counts.tx_down += 1;
                continue;
            }
            if let Some((_, output)) = &mut interface.capture {
                output.append(frame);
            }
            batch[count] = (interface.index, frame);
            count += 1;
            if count == BATCH {
                self.send_batch(&batch);
                count = 0;
            }
        }
        self.send_batch(&batch[..count]);
    }

    fn flush(&mut self) {
        for (_, interface) in &mut self.ports {
            if let Some((input, output)) = &mut interface.capture {
                input.flush();
                output.flush();
            }
        }
    }

    fn maintain(&mut self, event: &mut dyn FnMut(String)) {
        for (port, interface) in &mut self.ports {
            self.counts.rx_overruns += sys::drops(&interface.fd);
            if let Some(text) = interface.look(*port) {
                event(text);
            }
            if let Some((input, output)) = &mut interface.capture {
                input.take_error().into_iter().chain(output.take_error()).for_each(&mut *event);
            }
        }
    }

    fn add(&mut self, port: u16, interface: Interface) -> Result<(), IoError> {
        match self.find(port) {
            Ok(place) => Err(IoError::port_taken(port, &self.ports[place].1.name)),
            Err(place) => {
                if self.sender.is_none() {
                    let sender = sys::packet_socket().map_err(IoError::at("packet socket"))?;
                    sys::set_buffer(&sender, false, SEND_BUFFER_BYTES);
                    self.sender = Some(sender);
                }
                self.ports.insert(place, (port, interface));
                Ok(())
            }
        }
    }

    fn remove(&mut self, port: u16) -> Result<(), IoError> {
        let place = self.find(port).map_err(|_| IoError(format!("port {port}: is not attached")))?;
        // Closing the socket removes it from the poller.
        self.ports.remove(place);
        self.registered.retain(|known| *known != port);
        Ok(())
    }

    fn ports(&self) -> Vec<PortInfo> {
        let info = |(port, interface): &(u16, Interface)| PortInfo {
            port: *port,
            name: interface.name.clone(),
            is_up: interface.is_up,
        };
        self.ports.iter().map(info).collect()
    }

    fn counts(&self) -> IoCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vlan_tag_beside_the_frame_goes_back_behind_the_mac_addresses() {
        let mut frame: Vec<u8> = (0..20).collect();
        let (mut counts, mut out) = (IoCounts::default(), Vec::new());
        Repair::default().pass(
            &VnetHeader::default(),
            Some((0x88a8, 0x6123)),
            &mut frame,
            &mut counts,
            &mut |frame| out.push(frame.to_vec()),
        );
        let mut expected: Vec<u8> = (0..12).collect();
        expected.extend([0x88, 0xa8, 0x61, 0x23]);
        expected.extend(12..20);
        assert_eq!(out, [expected]);
    }

    #[test]
    fn a_frame_shorter_than_an_ethernet_header_is_counted_and_not_handed_on() {
        let (mut counts, mut out) = (IoCounts::default(), 0);
        Repair::default().pass(
            &VnetHeader::default(),
            Some((0x8100, 1)),
            &mut [0; 13],
            &mut counts,
            &mut |_| {
                out += 1;
            },
        );
        assert_eq!((out, counts.rx_malformed), (0, 1));
    }

    #[test]
    fn an_interface_that_does_not_exist_is_named_with_what_to_do() {
        let Err(error) = Interface::open(3, "no-such-if0", None) else { panic!("opened") };
        let text = error.to_string();
        assert!(text.starts_with("interface 'no-such-if0' (port 3): "), "{text}");
        assert!(text.contains("ip link") || text.contains("CAP_NET_RAW"), "{text}");
    }
}
