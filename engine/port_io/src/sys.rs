//! The system calls of packet sockets, behind safe functions.
//!
//! `unsafe` is allowed only here in the crate: AF_PACKET's addresses, options and control messages, and `recvmmsg`,
//! have no safe wrapper in rustix, nix or socket2. Each block states why it is sound.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::net::{socket_with, sockopt, AddressFamily, SocketFlags, SocketType};

/// From linux/if_packet.h; the libc crate lacks them.
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
const TP_STATUS_VLAN_TPID_VALID: u32 = 1 << 6;

const ETH_P_ALL: u16 = 0x0003;

/// `struct tpacket_auxdata` of linux/if_packet.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct AuxData {
    status: u32,
    length: u32,
    captured: u32,
    mac: u16,
    net: u16,
    vlan_tci: u16,
    vlan_tpid: u16,
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Returns a packet socket that does not receive yet.
pub(crate) fn packet_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?)
}

fn set<T>(fd: &OwnedFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: `value` is readable for the length given, and the kernel only reads it.
    unsafe {
        check(libc::setsockopt(
            fd.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        ))?;
    }
    Ok(())
}

/// Requests a `virtio_net_hdr` in front of each frame.
pub(crate) fn enable_vnet_header(fd: &OwnedFd) -> io::Result<()> {
    set(fd, libc::SOL_PACKET, PACKET_VNET_HDR, &1i32)
}

/// Requests the VLAN tags that the kernel removes from frames.
pub(crate) fn enable_auxdata(fd: &OwnedFd) -> io::Result<()> {
    set(fd, libc::SOL_PACKET, libc::PACKET_AUXDATA, &1i32)
}

/// Requests the kernel's arrival time of each frame.
pub(crate) fn enable_timestamps(fd: &OwnedFd) -> io::Result<()> {
    set(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1i32)
}

/// Excludes frames that this machine sends from reception. Kernels before 4.20 do not support this.
pub(crate) fn ignore_outgoing(fd: &OwnedFd) -> io::Result<()> {
    set(fd, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32)
}

/// Sets the receive or send buffer, beyond the system's limit if the process has the right.
pub(crate) fn set_buffer(fd: &OwnedFd, receive: bool, bytes: usize) {
    // Without the right, the kernel grants its limit; overruns are counted.
    let _ = if receive {
        sockopt::set_socket_recv_buffer_size_force(fd, bytes)
            .or_else(|_| sockopt::set_socket_recv_buffer_size(fd, bytes))
    } else {
        sockopt::set_socket_send_buffer_size_force(fd, bytes)
            .or_else(|_| sockopt::set_socket_send_buffer_size(fd, bytes))
    };
}

/// Receives frames for every address, not only for the interface's own.
pub(crate) fn set_promiscuous(fd: &OwnedFd, ifindex: i32) -> io::Result<()> {
    // SAFETY: the structure is plain integers, for which zeros are valid.
    let mut request: libc::packet_mreq = unsafe { zeroed() };
    request.mr_ifindex = ifindex;
    request.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
    set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

fn address(ifindex: i32, protocol: u16) -> libc::sockaddr_ll {
    // SAFETY: the structure is plain integers, for which zeros are valid.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = ifindex;
    address
}

/// Starts to receive every frame of an interface.
pub(crate) fn bind(fd: &OwnedFd, ifindex: i32) -> io::Result<()> {
    let address = address(ifindex, ETH_P_ALL);
    // SAFETY: the address is readable for the length given.
    unsafe {
        check(libc::bind(
            fd.as_raw_fd(),
            std::ptr::from_ref(&address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        ))?;
    }
    Ok(())
}

/// Returns the number of frames that the kernel dropped on this socket since the last call.
pub(crate) fn drops(fd: &OwnedFd) -> u64 {
    let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: both pointers are to live variables of the sizes given.
    let result = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            std::ptr::from_mut(&mut stats).cast(),
            &mut length,
        )
    };
    if result == 0 {
        u64::from(stats.tp_drops)
    } else {
        0
    }
}

/// Returns the index of an interface, and whether it is up and has its link.
pub(crate) fn interface(fd: &OwnedFd, name: &str) -> io::Result<(i32, bool)> {
    let invalid = || io::Error::from_raw_os_error(libc::ENODEV);
    let name = CString::new(name).map_err(|_| invalid())?;
    // SAFETY: the structure is plain bytes and integers, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    // The last byte stays zero: names are NUL-terminated.
    if name.as_bytes().is_empty() || name.as_bytes().len() >= request.ifr_name.len() {
        return Err(invalid());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = *from as libc::c_char;
    }
    // SAFETY: the kernel reads and writes one `ifreq`; each call fills the member of the union that is read after it.
    unsafe {
        check(libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFINDEX as _, &mut request))?;
        let index = request.ifr_ifru.ifru_ifindex;
        check(libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFFLAGS as _, &mut request))?;
        let flags = libc::c_int::from(request.ifr_ifru.ifru_flags);
        let up = libc::IFF_UP | libc::IFF_RUNNING;
        Ok((index, flags & up == up))
    }
}

/// Memory for one control message, a `tpacket_auxdata` or a `timespec`, aligned as `cmsghdr` requires.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; 64]);

/// The metadata of a received frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    /// Number of bytes written into the buffer.
    pub(crate) length: usize,
    /// Whether the frame was longer.
    pub(crate) truncated: bool,
    /// Whether this machine sent it.
    pub(crate) outgoing: bool,
    /// TPID and TCI of a VLAN tag that the kernel has removed.
    pub(crate) vlan: Option<(u16, u16)>,
    /// The kernel's arrival time, in nanoseconds of the system's clock, if timestamps are enabled.
    pub(crate) at_ns: Option<u64>,
}

/// Buffers for the frames of one `recvmmsg`.
pub(crate) struct ReceiveBatch {
    buffers: Vec<Box<[u8]>>,
    received: Vec<Received>,
}

impl ReceiveBatch {
    /// Allocates buffers for `count` frames of `length` bytes. Memory is touched only as far as frames reach.
    pub(crate) fn new(count: usize, length: usize) -> Self {
        Self {
            buffers: (0..count).map(|_| vec![0; length].into_boxed_slice()).collect(),
            received: Vec::with_capacity(count),
        }
    }

    /// Receives the waiting frames of a socket; never blocks.
    pub(crate) fn receive(&mut self, fd: &OwnedFd) -> io::Result<usize> {
        const BATCH: usize = 64;
        self.received.clear();
        let count = self.buffers.len().min(BATCH);
        let mut controls = [Control([0; 64]); BATCH];
        // SAFETY: these are plain integers and pointers, for which zeros are valid.
        let (mut addresses, mut parts, mut messages): (
            [libc::sockaddr_ll; BATCH],
            [libc::iovec; BATCH],
            [libc::mmsghdr; BATCH],
        ) = unsafe { (zeroed(), zeroed(), zeroed()) };
        for index in 0..count {
            let buffer = &mut self.buffers[index];
            parts[index] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut messages[index].msg_hdr;
            header.msg_name = std::ptr::from_mut(&mut addresses[index]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            header.msg_iov = &mut parts[index];
            header.msg_iovlen = 1;
            header.msg_control = controls[index].0.as_mut_ptr().cast();
            header.msg_controllen = controls[index].0.len() as _;
        }
        // SAFETY: every header points to its own live, writable buffer, address and control room of the lengths given, and
        // they outlive the call; no other reference to them is used until it has returned.
        let got = check(unsafe {
            libc::recvmmsg(
                fd.as_raw_fd(),
                messages.as_mut_ptr(),
                count as libc::c_uint,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        })?;
        for index in 0..got as usize {
            let header = &messages[index].msg_hdr;
            self.received.push(Received {
                length: (messages[index].msg_len as usize).min(self.buffers[index].len()),
                truncated: header.msg_flags & libc::MSG_TRUNC != 0,
                outgoing: addresses[index].sll_pkttype == libc::PACKET_OUTGOING,
                ..beside(header)
            });
        }
        Ok(self.received.len())
    }

    /// Returns the frames of the last `receive`, with their buffers.
    pub(crate) fn frames(&mut self) -> impl Iterator<Item = (Received, &mut [u8])> {
        self.received.iter().copied().zip(self.buffers.iter_mut().map(|buffer| &mut **buffer))
    }
}

/// Returns the contents of a received frame's control messages.
fn beside(header: &libc::msghdr) -> Received {
    let mut found = Received::default();
    // SAFETY: the kernel has just filled the header, its control memory is live, and CMSG_FIRSTHDR and CMSG_NXTHDR stay
    // within it. Data is read unaligned, and only if its length covers the structure.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(header);
        while !control.is_null() {
            let message = &*control;
            let holds =
                |bytes: usize| message.cmsg_len as usize >= libc::CMSG_LEN(bytes as libc::c_uint) as usize;
            match (message.cmsg_level, message.cmsg_type) {
                (libc::SOL_PACKET, libc::PACKET_AUXDATA) if holds(size_of::<AuxData>()) => {
                    let data: AuxData = std::ptr::read_unaligned(libc::CMSG_DATA(control).cast());
                    if data.status & TP_STATUS_VLAN_VALID != 0 {
                        let has_tpid = data.status & TP_STATUS_VLAN_TPID_VALID != 0;
                        found.vlan = Some((if has_tpid { data.vlan_tpid } else { 0x8100 }, data.vlan_tci));
                    }
                }
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) if holds(size_of::<libc::timespec>()) => {
                    let at: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(control).cast());
                    found.at_ns = Some(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64);
                }
                _ => {}
            }
            control = libc::CMSG_NXTHDR(header, control);
        }
    }
    found
}

/// Sends frames in one call, each to the interface with its index; never blocks. Returns the number accepted. Returns
/// the error of the first frame if none was accepted.
pub(crate) fn send(fd: &OwnedFd, frames: &[(i32, &[u8])]) -> io::Result<usize> {
    const BATCH: usize = 64;
    let count = frames.len().min(BATCH);
    // SAFETY: these are plain integers and pointers, for which zeros are valid.
    let (mut addresses, mut parts, mut messages): (
        [libc::sockaddr_ll; BATCH],
        [libc::iovec; BATCH],
        [libc::mmsghdr; BATCH],
    ) = unsafe { (zeroed(), zeroed(), zeroed()) };
    for (index, (ifindex, frame)) in frames[..count].iter().enumerate() {
        addresses[index] = address(*ifindex, 0);
        parts[index] = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
        let header = &mut messages[index].msg_hdr;
        header.msg_name = std::ptr::from_mut(&mut addresses[index]).cast();
        header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        header.msg_iov = &mut parts[index];
        header.msg_iovlen = 1;
    }
    // SAFETY: every header points to its own live address and frame of the lengths given, and they outlive the call. The
    // kernel only reads what it sends, so the pointer to constant bytes is not written through.
    let sent = check(unsafe {
        libc::sendmmsg(fd.as_raw_fd(), messages.as_mut_ptr(), count as libc::c_uint, libc::MSG_DONTWAIT as _)
    })?;
    Ok(sent as usize)
}
