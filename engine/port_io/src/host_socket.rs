//! The host's end of a link: sends frames unchanged, and receives frames with their arrival times.
//!
//! It is not a port of a switch: it repairs nothing, and does not restore the VLAN tag that the kernel removes from a frame.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt;
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

use crate::{sys, IoError};

const BATCH: usize = 64;
/// Maximum number of bytes received of a frame; only its headers are needed.
const BUFFER_BYTES: usize = 2048;
const BUFFERED_BYTES: usize = 8 << 20;
/// The kernel may report the link of an interface that has just been set up as much as a second late.
const LINK_WAIT: Duration = Duration::from_secs(2);
const LINK_POLL: Duration = Duration::from_millis(10);

/// A packet socket on one interface, in a given network namespace.
pub struct HostSocket {
    fd: OwnedFd,
    index: i32,
}

/// Memory for the frames that a socket receives in one call; sockets can share it.
pub struct ReceiveBuffer(sys::ReceiveBatch);

impl Default for ReceiveBuffer {
    fn default() -> Self {
        Self(sys::ReceiveBatch::new(BATCH, BUFFER_BYTES))
    }
}

impl AsFd for HostSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl HostSocket {
    /// Opens an interface in the namespace of the file `namespace` (such as `/run/netns/NAME`), or in the caller's
    /// namespace. Errors contain `number` and `name`. Waits up to two seconds for the link.
    pub fn open(number: u16, namespace: Option<&Path>, name: &str) -> Result<Self, IoError> {
        let failed =
            |doing: &'static str| IoError::at(format!("interface '{name}' (port {number}): {doing}"));
        let Some(path) = namespace else { return Self::open_here(name, failed) };
        let file = File::open(path).map_err(failed("cannot open its namespace"))?;
        // A thread can change its own namespace only; the socket stays in the namespace in which it was created.
        thread::scope(|scope| {
            let opening = scope.spawn(|| {
                move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                    .map_err(|errno| failed("cannot enter its namespace")(errno.into()))?;
                Self::open_here(name, failed)
            });
            opening.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn open_here<E: FnOnce(io::Error) -> IoError>(
        name: &str,
        failed: impl Fn(&'static str) -> E,
    ) -> Result<Self, IoError> {
        let fd = sys::packet_socket().map_err(failed("cannot open a packet socket"))?;
        let deadline = Instant::now() + LINK_WAIT;
        let index = loop {
            let (index, is_up) = sys::interface(&fd, name).map_err(failed("cannot find it"))?;
            if is_up {
                break index;
            }
            if Instant::now() > deadline {
                return Err(failed("cannot use it")(io::Error::from_raw_os_error(libc::ENETDOWN)));
            }
            thread::sleep(LINK_POLL);
        };
        sys::enable_timestamps(&fd).map_err(failed("SO_TIMESTAMPNS"))?;
        // Without this option (Linux before 4.20), the packet type identifies frames that this machine has sent.
        let _ = sys::ignore_outgoing(&fd);
        sys::set_buffer(&fd, true, BUFFERED_BYTES);
        sys::set_buffer(&fd, false, BUFFERED_BYTES);
        sys::bind(&fd, index).map_err(failed("cannot bind to it"))?;
        sys::set_promiscuous(&fd, index).map_err(failed("promiscuous mode"))?;
        let _ = sockopt::socket_error(&fd);
        Ok(Self { fd, index })
    }

    /// Sends frames in the given order, up to 64, without blocking. Returns the number that the kernel accepted.
    /// Returns the error of the first frame if the kernel accepted none.
    pub fn send(&self, frames: &[&[u8]]) -> io::Result<usize> {
        let mut addressed: [(i32, &[u8]); BATCH] = [(self.index, &[]); BATCH];
        let count = frames.len().min(BATCH);
        for (to, frame) in addressed.iter_mut().zip(frames) {
            to.1 = frame;
        }
        sys::send(&self.fd, &addressed[..count])
    }

    /// Delivers up to 64 received frames, each with the kernel's arrival time in nanoseconds since 1970. Returns
    /// whether more may be available at once. Never blocks.
    pub fn receive(
        &self,
        frames: &mut ReceiveBuffer,
        deliver: &mut dyn FnMut(Option<u64>, &[u8]),
    ) -> io::Result<bool> {
        let got = match frames.0.receive(&self.fd) {
            Ok(got) => got,
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => {
                return Ok(false)
            }
            Err(error) => return Err(error),
        };
        for (received, buffer) in frames.0.frames() {
            if !received.outgoing {
                deliver(received.at_ns, &buffer[..received.length]);
            }
        }
        Ok(got == BATCH)
    }

    /// Returns the number of frames that the kernel dropped on this socket since the last call.
    pub fn drops(&self) -> u64 {
        sys::drops(&self.fd)
    }
}
