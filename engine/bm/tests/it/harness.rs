//! A bare switch for tests: one packet at a time, with a record of the program's requests. Everything that runs as native code
//! is also interpreted, and must give the same packet and requests.

use std::sync::Arc;

use bm::{Executable, Externs, Fault, Field, LogMessage, Phv, Program, Request, State};

pub const DROP_PORT: u64 = 511;

/// The requests of a program to the switch, in words.
#[derive(Debug, Default)]
pub struct Recorder {
    pub calls: Vec<String>,
    pub now_ps: u64,
}

impl Externs for Recorder {
    fn drop_port(&self) -> u64 {
        DROP_PORT
    }
    fn now_ps(&self) -> u64 {
        self.now_ps
    }
    fn random(&mut self, lo: u64, hi: u64) -> u64 {
        self.calls.push(format!("random {lo}..={hi}"));
        hi
    }
    fn request(&mut self, request: Request, arguments: [u64; 2]) {
        self.calls.push(format!("{} {:?}", request.name(), request.arguments(&arguments)));
    }
    fn log_msg(&mut self, message: LogMessage<'_>) {
        self.calls.push(format!("log {message}"));
    }
}

/// One program, its state, and the last packet.
pub struct Bench {
    pub program: Arc<Executable>,
    pub state: State,
    pub phv: Phv,
    pub externs: Recorder,
    frame: Vec<u8>,
}

impl Bench {
    pub fn new(json: &[u8]) -> Bench {
        let program = Executable::new(Program::from_json(json).unwrap_or_else(|e| panic!("{e}")));
        Bench {
            state: State::new(&program),
            phv: Phv::new(&program),
            externs: Recorder::default(),
            program,
            frame: Vec::new(),
        }
    }

    pub fn field(&self, header: &str, name: &str) -> Field {
        self.program.field(header, name).unwrap_or_else(|| panic!("no field {header}.{name}"))
    }

    pub fn get(&self, header: &str, name: &str) -> u64 {
        self.phv.get(self.field(header, name))
    }

    /// Parses a frame, and returns the parser error.
    pub fn parse(&mut self, frame: &[u8]) -> u32 {
        self.frame = frame.to_vec();
        self.phv.reset(&self.program, frame.len() as u64);
        let parser = self.program.parser("parser").unwrap();
        let (mut state, mut phv) = self.interpreted();
        let error = self.state.parse(parser, &mut self.phv, frame, None);
        assert_eq!(state.parse(parser, &mut phv, frame, None), error, "interpreted and native");
        self.assert_same(&phv);
        error
    }

    /// Returns copies of the state and the packet for the interpreter.
    fn interpreted(&self) -> (State, Phv) {
        assert!(self.state.is_native(), "this machine has a code generator");
        let mut state = self.state.clone();
        state.interpret();
        (state, self.phv.clone())
    }

    /// Asserts that every slot, length and byte is the same as after the interpreter.
    fn assert_same(&self, interpreted: &Phv) {
        assert_eq!(format!("{:?}", self.phv), format!("{interpreted:?}"), "native and interpreted");
    }

    pub fn checksums_hold(&mut self) -> bool {
        let (mut state, mut phv) = self.interpreted();
        let hold = self.state.verify_checksums(&mut self.phv, &self.frame, None);
        assert_eq!(state.verify_checksums(&mut phv, &self.frame, None), hold, "interpreted and native");
        self.assert_same(&phv);
        hold
    }

    pub fn run(&mut self, pipeline: &str) -> Result<(), Fault> {
        let pipeline = self.program.pipeline(pipeline).unwrap();
        let (mut state, mut phv) = self.interpreted();
        let mut externs = Recorder { now_ps: self.externs.now_ps, ..Recorder::default() };
        let calls = self.externs.calls.len();
        let ran = self.state.run(pipeline, &mut self.phv, &mut self.externs, None);
        assert_eq!(state.run(pipeline, &mut phv, &mut externs, None), ran, "interpreted and native");
        assert_eq!(externs.calls, self.externs.calls[calls..], "interpreted and native");
        self.assert_same(&phv);
        ran
    }

    /// Returns the packet as deparsed.
    pub fn deparse(&mut self) -> Vec<u8> {
        let payload = self.frame[self.phv.payload_offset()..].to_vec();
        let (mut state, mut phv) = self.interpreted();
        self.state.update_checksums(&mut self.phv, &payload, None);
        state.update_checksums(&mut phv, &payload, None);
        self.assert_same(&phv);
        let (mut out, mut interpreted) = (Vec::new(), Vec::new());
        let deparser = self.program.deparser("deparser").unwrap();
        self.state.deparse(deparser, &mut self.phv, &mut out);
        state.deparse(deparser, &mut phv, &mut interpreted);
        assert_eq!(out, interpreted, "native and interpreted");
        out.extend_from_slice(&payload);
        out
    }
}

/// Returns an Ethernet header.
pub fn ethernet(dst: u64, src: u64, ether_type: u16) -> Vec<u8> {
    let mut frame = dst.to_be_bytes()[2..].to_vec();
    frame.extend_from_slice(&src.to_be_bytes()[2..]);
    frame.extend_from_slice(&ether_type.to_be_bytes());
    frame
}

/// Returns the big-endian bytes of each value.
pub fn values(list: &[u64]) -> Vec<Vec<u8>> {
    list.iter().map(|v| v.to_be_bytes().to_vec()).collect()
}
