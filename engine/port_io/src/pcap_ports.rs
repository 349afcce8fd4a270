//! Pcap files or FIFOs as ports: BMv2's `--use-files`. Port X reads `X_in.pcap` and writes `X_out.pcap`.
//!
//! Records of all inputs are delivered in order of their times, as fast as the switch accepts them. BMv2 waits for a
//! record of every input before it delivers the first; here a silent FIFO delays no other input. Records written into
//! several FIFOs one after the other, with non-decreasing times, are still delivered in that order.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::pcap_output::Output;
use crate::{pcap, IoCounts, IoError, Poller, PortInfo, PortIo};

/// Maximum number of records delivered before transmission and control calls get their turn.
const RECORDS_PER_TURN: usize = 256;
/// Bytes per read of a file.
const READ_BYTES: usize = 256 << 10;
const MESSAGE_LIMIT: usize = 64;

/// An input of a port.
struct Input {
    port: u16,
    path: PathBuf,
    file: File,
    is_fifo: bool,
    reader: pcap::Reader,
    frames: u64,
    ended: bool,
    /// Whether the poller has reported this FIFO. Before that, an empty read means that its writer has not come yet.
    had_writer: bool,
}

impl Input {
    fn open(port: u16, path: PathBuf) -> Result<Self, IoError> {
        // With O_NONBLOCK, opening a FIFO does not wait for its writer.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path);
        let file = file.map_err(IoError::file(&path, port))?;
        let is_fifo = file.metadata().is_ok_and(|found| found.file_type().is_fifo());
        let reader = pcap::Reader::default();
        let mut input =
            Self { port, path, file, is_fifo, reader, frames: 0, ended: false, had_writer: false };
        if !is_fifo {
            // Refuses a file of another format now, not when the switch runs.
            let count = input.read().map_err(IoError::file(&input.path, port))?;
            let start = if count == 0 { input.reader.end() } else { input.reader.peek().map(drop) };
            start.map_err(IoError::file(&input.path, port))?;
        }
        Ok(input)
    }

    fn read(&mut self) -> std::io::Result<usize> {
        let file = &mut self.file;
        self.reader.fill(READ_BYTES, |room| file.read(room))
    }

    /// Tries to complete a record. Returns its time.
    fn next_time(&mut self, counts: &mut IoCounts, messages: &mut VecDeque<String>) -> Option<u64> {
        while !self.ended {
            match self.reader.peek() {
                Ok(Some(time)) => return Some(time),
                Err(error) => self.end(Some(error.to_string()), counts, messages),
                Ok(None) => match self.read() {
                    Ok(0) if self.is_fifo && !self.had_writer => return None,
                    Ok(0) => {
                        let problem = self.reader.end().err().map(|error| error.to_string());
                        self.end(problem, counts, messages);
                    }
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                    Err(error) => self.end(Some(error.to_string()), counts, messages),
                },
            }
        }
        None
    }

    fn end(&mut self, problem: Option<String>, counts: &mut IoCounts, messages: &mut VecDeque<String>) {
        self.ended = true;
        counts.rx_malformed += u64::from(problem.is_some());
        let (port, path, frames) = (self.port, self.path.display(), self.frames);
        if messages.len() < MESSAGE_LIMIT {
            messages.push_back(match problem {
                None => format!("port {port}: end of '{path}' after {frames} frames"),
                Some(problem) => {
                    format!("port {port}: '{path}' {problem}; {frames} frames were taken before")
                }
            });
        }
    }
}

/// One port: a file to read and a file to write.
pub struct PcapPort {
    name: String,
    input: Input,
    output: Output,
}

impl PcapPort {
    /// Opens `NAME_in.pcap` and creates `NAME_out.pcap`. Either may be a FIFO.
    pub fn open(port: u16, name: &str) -> Result<Self, IoError> {
        Ok(Self {
            name: name.to_owned(),
            input: Input::open(port, PathBuf::from(format!("{name}_in.pcap")))?,
            output: Output::create(port, PathBuf::from(format!("{name}_out.pcap")))?,
        })
    }
}

/// The ports of a switch that reads and writes files.
pub struct PcapPorts {
    ports: Vec<PcapPort>,
    wait: Duration,
    start: Option<Instant>,
    messages: VecDeque<String>,
    counts: IoCounts,
}

impl PcapPorts {
    /// Creates the ports from opened ones. Nothing is read before the switch has run for `wait`.
    pub fn new(mut ports: Vec<PcapPort>, wait: Duration) -> Result<Self, IoError> {
        ports.sort_by_key(|port| port.input.port);
        if let Some(pair) = ports.windows(2).find(|pair| pair[0].input.port == pair[1].input.port) {
            let input = &pair[0].input;
            return Err(IoError::port_taken(input.port, &input.path.display().to_string()));
        }
        Ok(Self { ports, wait, start: None, messages: VecDeque::new(), counts: IoCounts::default() })
    }

    /// Returns the index of the input with the next record.
    fn earliest(&mut self) -> Option<usize> {
        let mut earliest = None;
        // A record written to another FIFO before the earliest record is found in the second round at the latest.
        for _ in 0..2 {
            earliest = None;
            for (place, port) in self.ports.iter_mut().enumerate() {
                if let Some(time) = port.input.next_time(&mut self.counts, &mut self.messages) {
                    if earliest.is_none_or(|(first, _)| time < first) {
                        earliest = Some((time, place));
                    }
                }
            }
            if earliest.is_none() {
                break;
            }
        }
        earliest.map(|(_, place)| place)
    }
}

impl PortIo for PcapPorts {
    fn register(&mut self, poller: &Poller) -> Result<(), IoError> {
        self.start = Some(Instant::now() + self.wait);
        for (place, port) in self.ports.iter().enumerate().filter(|(_, port)| port.input.is_fifo) {
            poller.add_edge(&port.input.file, place as u64)?;
        }
        Ok(())
    }

    fn receive(
        &mut self,
        _: &Poller,
        ready: &[u64],
        deliver: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<bool, IoError> {
        for place in ready {
            if let Some(port) = self.ports.get_mut(*place as usize) {
                port.input.had_writer = true;
            }
        }
        if self.start.is_none_or(|start| Instant::now() < start) {
            return Ok(false);
        }
        for _ in 0..RECORDS_PER_TURN {
            let Some(place) = self.earliest() else { return Ok(false) };
            let input = &mut self.ports[place].input;
            if let Ok(Some(record)) = input.reader.next_record() {
                input.frames += 1;
                if record.length as usize == record.data.len() {
                    deliver(input.port, record.data);
                } else {
                    self.counts.rx_truncated += 1;
                }
            }
        }
        Ok(true)
    }

    fn send(&mut self, frames: &mut dyn Iterator<Item = (u16, &[u8])>) {
        for (number, frame) in frames {
            match self.ports.binary_search_by_key(&number, |port| port.input.port) {
                Ok(place) if self.ports[place].output.append(frame) => {}
                Ok(_) => self.counts.tx_full += 1,
                Err(_) => self.counts.tx_no_port += 1,
            }
        }
    }

    fn flush(&mut self) {
        self.ports.iter_mut().for_each(|port| port.output.flush());
    }

    fn maintain(&mut self, event: &mut dyn FnMut(String)) {
        self.flush();
        self.messages.drain(..).for_each(&mut *event);
        self.ports.iter_mut().filter_map(|port| port.output.take_error()).for_each(&mut *event);
    }

    fn ports(&self) -> Vec<PortInfo> {
        let info = |port: &PcapPort| PortInfo { port: port.input.port, name: port.name.clone(), is_up: true };
        self.ports.iter().map(info).collect()
    }

    fn counts(&self) -> IoCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Returns a folder for this test.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("port_io-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn file(records: &[(u64, &[u8])]) -> Vec<u8> {
        let mut bytes = pcap::file_header(false).to_vec();
        for (time_us, frame) in records {
            pcap::append_record(&mut bytes, time_us * 1_000, frame);
        }
        bytes
    }

    fn open(folder: &std::path::Path, ports: &[u16]) -> Result<(PcapPorts, Poller), IoError> {
        let open = |port: &u16| PcapPort::open(*port, folder.join(format!("p{port}")).to_str().unwrap());
        let mut ports = PcapPorts::new(ports.iter().map(open).collect::<Result<_, _>>()?, Duration::ZERO)?;
        let poller = Poller::new()?;
        ports.register(&poller)?;
        Ok((ports, poller))
    }

    fn receive(ports: &mut PcapPorts, poller: &Poller) -> Vec<(u16, Vec<u8>)> {
        let (mut ready, mut frames) = (Vec::new(), Vec::new());
        poller.wait(Duration::from_millis(1), &mut ready).unwrap();
        while ports.receive(poller, &ready, &mut |port, frame| frames.push((port, frame.to_vec()))).unwrap() {
        }
        frames
    }

    fn events(ports: &mut PcapPorts) -> String {
        let mut events = Vec::new();
        ports.maintain(&mut |event| events.push(event));
        events.join("\n")
    }

    #[test]
    fn records_of_all_files_come_in_order_of_their_times_and_answers_are_written() {
        let folder = folder("files");
        std::fs::write(folder.join("p1_in.pcap"), file(&[(10, b"a"), (30, b"c")])).unwrap();
        std::fs::write(folder.join("p2_in.pcap"), file(&[(20, b"b"), (30, b"d")])).unwrap();
        let (mut ports, poller) = open(&folder, &[2, 1]).unwrap();
        let frames = receive(&mut ports, &poller);
        assert_eq!(frames, [(1, b"a".to_vec()), (2, b"b".to_vec()), (1, b"c".to_vec()), (2, b"d".to_vec())]);
        assert!(events(&mut ports).contains("port 1: end of '"));

        ports.send(&mut [(2u16, &b"out"[..]), (9, b"nowhere")].into_iter());
        ports.flush();
        let written = std::fs::read(folder.join("p2_out.pcap")).unwrap();
        assert_eq!(written[..24], pcap::file_header(false));
        assert_eq!(written[40..], *b"out");
        assert_eq!(ports.counts().tx_no_port, 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_silent_fifo_delays_no_other_and_its_end_is_reported() {
        let folder = folder("fifos");
        let path = |port: u16| folder.join(format!("p{port}_in.pcap"));
        for port in [1, 2] {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                path(port),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            )
            .unwrap();
        }
        let (mut ports, poller) = open(&folder, &[1, 2]).unwrap();
        assert_eq!(receive(&mut ports, &poller), [], "no writer yet");
        let mut writers = [1, 2].map(|port| OpenOptions::new().write(true).open(path(port)).unwrap());
        writers[1].write_all(&file(&[(10, b"a")])).unwrap();
        assert_eq!(receive(&mut ports, &poller), [(2, b"a".to_vec())], "port 1 has said nothing");
        writers[0].write_all(&file(&[(20, b"b")])).unwrap();
        writers[1].write_all(&file(&[(30, b"c")])[24..]).unwrap();
        assert_eq!(receive(&mut ports, &poller), [(1, b"b".to_vec()), (2, b"c".to_vec())]);
        drop(writers);
        assert_eq!(receive(&mut ports, &poller), []);
        let events = events(&mut ports);
        assert!(events.contains("port 1: end of '") && events.contains("after 1 frames"), "{events}");
        assert!(events.contains("port 2: end of '") && events.contains("after 2 frames"), "{events}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damage_ends_one_input_with_its_place_and_leaves_the_others() {
        let folder = folder("damage");
        let mut bytes = file(&[(10, b"a")]);
        bytes.extend([0xff; 16]);
        std::fs::write(folder.join("p1_in.pcap"), bytes).unwrap();
        std::fs::write(folder.join("p2_in.pcap"), file(&[(20, b"b")])).unwrap();
        let (mut ports, poller) = open(&folder, &[1, 2]).unwrap();
        assert_eq!(receive(&mut ports, &poller), [(1, b"a".to_vec()), (2, b"b".to_vec())]);
        assert!(events(&mut ports).contains("p1_in.pcap' record 2 has 4294967295 bytes"));
        assert_eq!(ports.counts().rx_malformed, 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_no_pcap_file_is_refused_when_it_is_opened() {
        let folder = folder("refused");
        for (content, reason) in
            [(&b"#!/bin/sh\n"[..], "not a pcap magic number"), (b"", "ends inside its header")]
        {
            std::fs::write(folder.join("p1_in.pcap"), content).unwrap();
            let error = open(&folder, &[1]).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(reason), "{error}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_frame_that_was_captured_incompletely_is_counted_and_not_handed_on() {
        let folder = folder("snaplen");
        let mut bytes = file(&[(10, b"abc"), (11, b"whole")]);
        bytes[24 + 12] = 200;
        std::fs::write(folder.join("p1_in.pcap"), bytes).unwrap();
        let (mut ports, poller) = open(&folder, &[1]).unwrap();
        assert_eq!(receive(&mut ports, &poller), [(1, b"whole".to_vec())]);
        assert_eq!(ports.counts().rx_truncated, 1);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
