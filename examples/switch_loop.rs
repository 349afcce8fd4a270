//! A P4 switch in a loop of your own: frames in at times of your own, frames out with theirs. Nothing here reads a clock.
//!
//! `cargo run --manifest-path engine/Cargo.toml -p simple_switch --example switch_loop`

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use bm::{Executable, MatchKeyParam, Program};
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::{DataRate, Duration, Time};

const PROGRAM: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/new_aqm/delay.json"
));

/// Returns what becomes of twelve frames that arrive at one instant: those that have waited longer than 50 us leave with a mark.
fn departures() -> Result<String, Box<dyn Error>> {
    let program = Executable::new(Program::from_json(PROGRAM)?);
    let mut switch = Switch::new(
        Arc::clone(&program),
        SwitchConfig {
            tick: Duration::from_ns(1),
            ports: vec![
                PortConfig::unlimited(0),
                PortConfig {
                    rate: Some("1Gbps".parse::<DataRate>()?),
                    ..PortConfig::unlimited(1)
                },
            ],
            ..SwitchConfig::default()
        },
    )?;
    switch.state_mut().mt_add_entry(
        "DelayEgress.delay",
        &[MatchKeyParam::Exact(1u16.to_be_bytes().to_vec())],
        "DelayEgress.mark_above",
        &[50_000u32.to_be_bytes().to_vec()],
        0,
    )?;

    let mut frame = [0; 1250];
    frame[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0x02]); // IPv4 with ECT(0)
    for number in 0..12 {
        switch.handle_packet(Time::ZERO, 0, &frame, number);
    }
    let mut text = String::new();
    while let Some(now) = switch.next_wakeup() {
        switch.handle_wakeup(now);
        while let Some(sent) = switch.poll_transmit() {
            let marked = if sent.frame[15] & 3 == 3 { "CE" } else { "-" };
            writeln!(
                text,
                "frame {:2} leaves at {:3} us {marked}",
                sent.tag,
                sent.at.as_ps() / 1_000_000
            )?;
            switch.recycle(sent.frame);
        }
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    use std::io::Write as _;
    std::io::stdout().write_all(departures()?.as_bytes())?;
    Ok(())
}

#[test]
fn the_seventh_frame_has_waited_60_us_and_is_the_first_to_be_marked() {
    let text = departures().unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 12);
    assert_eq!(lines[5], "frame  5 leaves at  50 us -");
    assert_eq!(lines[6], "frame  6 leaves at  60 us CE");
    assert!(lines[6..].iter().all(|line| line.ends_with("CE")));
}
