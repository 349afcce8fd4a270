//! Sends frames on one network interface and counts the frames that arrive on another: the load generator of `live/benches/throughput.py`.
//!
//!     load SEND_ON RECEIVE_ON FRAMES FRAMES_PER_SECOND FRAME_BYTES
//!
//! Prints `sent received seconds`: the seconds run from the first frame sent to the last one received. A rate of 0
//! sends as fast as possible. One thread does both, so that a machine with two cores has one for the switch.

#![allow(clippy::print_stdout)] // The result goes to standard output.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use port_io::{Interface, Interfaces, IoError, Poller, PortIo};

const BATCH: u64 = 32;
/// Time without an arrival after which the missing frames count as lost.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// An experimental EtherType (IEEE 802), which nothing else on these links sends.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];

fn frame(length: usize, template: Option<&[u8]>) -> Vec<u8> {
    let mut frame = template
        .map_or_else(|| [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &ETHER_TYPE].concat(), <[u8]>::to_vec);
    frame.resize(length.max(frame.len()), 0);
    frame
}

fn run(arguments: &[String]) -> Result<(u64, u64, f64), String> {
    let [send_on, receive_on, count, rate, length, rest @ ..] = arguments else {
        return Err("load SEND_ON RECEIVE_ON FRAMES FRAMES_PER_SECOND FRAME_BYTES [HEX_OF_THE_FRAME]".into());
    };
    let number = |text: &String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let (count, rate, length) = (number(count)?, number(rate)?, number(length)? as usize);
    let template = rest.first().map(|text| unhex(text)).transpose()?;
    let frame = frame(length, template.as_deref());
    let ether_type = [frame[12], frame[13]];
    load(send_on, receive_on, count, rate, &frame, ether_type).map_err(|error| error.to_string())
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digit = |place: usize| {
        u8::from_str_radix(text.get(place..place + 2).unwrap_or("?"), 16).map_err(|error| error.to_string())
    };
    (0..text.len()).step_by(2).map(digit).collect()
}

fn load(
    send_on: &str,
    receive_on: &str,
    count: u64,
    rate: u64,
    frame: &[u8],
    ether_type: [u8; 2],
) -> Result<(u64, u64, f64), IoError> {
    let open = |port, name| Ok::<_, IoError>((port, Interface::open(port, name, None)?));
    let mut ports = Interfaces::new(vec![open(0, send_on)?, open(1, receive_on)?])?;
    let poller = Poller::new()?;
    ports.register(&poller)?;
    let (mut sent, mut received) = (0u64, 0u64);
    let start = Instant::now();
    let (mut last, mut ready) = (start, Vec::new());
    loop {
        let due = if rate == 0 { count } else { (start.elapsed().as_secs_f64() * rate as f64) as u64 };
        let batch = due.min(count).saturating_sub(sent).min(BATCH);
        ports.send(&mut (0..batch).map(|_| (0, frame)));
        sent += batch;
        poller.wait(if sent < count { Duration::ZERO } else { PATIENCE / 10 }, &mut ready)?;
        let before = received;
        ports.receive(&poller, &ready, &mut |port, frame| {
            received += u64::from(port == 1 && frame.get(12..14) == Some(&ether_type));
        })?;
        let now = Instant::now();
        if received > before {
            last = now;
        }
        if received >= count || (sent == count && now - last > PATIENCE) {
            return Ok((sent, received, (last - start).as_secs_f64()));
        }
    }
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok((sent, received, seconds)) => {
            println!("{sent} {received} {seconds:.4}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}
