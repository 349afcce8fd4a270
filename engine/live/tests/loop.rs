//! The loop between ports, clock and control calls, with ports made for the test.
#![cfg(all(target_os = "linux", feature = "ports"))]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use bm::{Executable, Program};
use live::{LiveConfig, LiveSwitch, PortDefaults, Ports};
use port_io::{IoCounts, IoError, Poller, PortInfo, PortIo};
use simple_switch::SwitchConfig;

const FRAMES_PER_TURN: u64 = 64;

/// A port 0 at which `left` frames wait. It counts the frames that the switch sends.
struct Source {
    left: Arc<AtomicU64>,
    sent: Arc<AtomicU64>,
}

impl PortIo for Source {
    fn register(&mut self, _: &Poller) -> Result<(), IoError> {
        Ok(())
    }

    fn receive(
        &mut self,
        _: &Poller,
        _: &[u64],
        deliver: &mut dyn FnMut(u16, &[u8]),
    ) -> Result<bool, IoError> {
        for _ in 0..FRAMES_PER_TURN {
            if self.left.load(Ordering::Relaxed) == 0 {
                return Ok(false);
            }
            self.left.fetch_sub(1, Ordering::Relaxed);
            deliver(0, &[0; 60]);
        }
        Ok(true)
    }

    fn send(&mut self, frames: &mut dyn Iterator<Item = (u16, &[u8])>) {
        self.sent.fetch_add(frames.count() as u64, Ordering::Relaxed);
    }

    fn maintain(&mut self, _: &mut dyn FnMut(String)) {}

    fn ports(&self) -> Vec<PortInfo> {
        Vec::new()
    }

    fn counts(&self) -> IoCounts {
        IoCounts::default()
    }
}

fn patch() -> Arc<Executable> {
    Executable::new(Program::from_json(include_bytes!("p4/patch.json")).expect("patch.json loads"))
}

fn switch(
    program: Option<Arc<Executable>>,
    config: SwitchConfig,
    frames: u64,
) -> (LiveSwitch, Arc<AtomicU64>, Arc<AtomicU64>) {
    let (left, sent) = (Arc::new(AtomicU64::new(frames)), Arc::default());
    let source = Source { left: Arc::clone(&left), sent: Arc::clone(&sent) };
    let config = LiveConfig {
        switch: config,
        port_defaults: PortDefaults::default(),
        capture: None,
        follows_all: false,
    };
    let switch = LiveSwitch::new(program, config, Ports::Fixed(Box::new(source), vec![0, 1])).unwrap();
    (switch, left, sent)
}

/// Waits until `done`, at most half a minute.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited for half a minute: {what}");
}

#[test]
fn frames_go_through_the_program_and_out_and_none_is_lost() {
    let (switch, _, sent) = switch(Some(patch()), SwitchConfig::default(), 1_000);
    assert_eq!(switch.with(|switch| switch.p4_passes()).unwrap(), 0, "nothing is taken before the start");
    switch.start().unwrap();
    until("all are sent", || sent.load(Ordering::Relaxed) == 1_000);
    let stats = switch.with(|switch| switch.port_stats(1)).unwrap();
    assert_eq!((stats.tx_packets, stats.tx_bytes), (1_000, 60_000));
    switch.stop();
    assert!(switch.has_ended());
}

#[test]
fn control_calls_are_answered_while_frames_never_stop_coming() {
    let (switch, left, sent) = switch(Some(patch()), SwitchConfig::default(), u64::MAX);
    switch.start().unwrap();
    until("frames flow", || sent.load(Ordering::Relaxed) > 0);
    for value in 1..=200u8 {
        let name = "PatchIngress.frames";
        switch.with(|switch| switch.state_mut().register_write(name, 7, &[value])).unwrap().unwrap();
        let read = switch.with(|switch| switch.state().register_read(name, 7)).unwrap().unwrap();
        assert_eq!(read.last(), Some(&value));
        assert!(switch.remove_port(0).unwrap_err().to_string().contains("cannot be added or removed"));
    }
    assert!(left.load(Ordering::Relaxed) > 0, "frames were still coming");
}

#[test]
fn while_it_is_paused_no_packet_is_processed() {
    let (switch, _, sent) = switch(Some(patch()), SwitchConfig::default(), u64::MAX);
    switch.start().unwrap();
    until("frames flow", || sent.load(Ordering::Relaxed) > 0);
    switch.turns().pause();
    let before = switch.with(|switch| switch.p4_passes()).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(switch.with(|switch| switch.p4_passes()).unwrap(), before);
    switch.turns().resume();
    until("frames flow again", || switch.with(|switch| switch.p4_passes()).unwrap() > before);
}

#[test]
fn frames_before_the_first_program_are_counted_and_the_program_may_come_later() {
    let (switch, left, sent) = switch(None, SwitchConfig::default(), 100);
    switch.start().unwrap();
    until("they are dropped", || switch.counts().rx_no_program == 100);
    switch.load_program(patch()).unwrap();
    left.store(5, Ordering::Relaxed);
    until("later ones are sent", || sent.load(Ordering::Relaxed) == 5);
}

#[test]
fn packets_of_the_controller_go_in_and_out_on_the_cpu_port() {
    let config = SwitchConfig { cpu_port: Some(2), ..SwitchConfig::default() };
    let (switch, _, _) = switch(Some(patch()), config, 0);
    switch.start().unwrap();
    let to_cpu = |switch: &mut simple_switch::Switch| {
        let key = [bm::MatchKeyParam::Exact(vec![0, 2])];
        let port = vec![vec![0, 2]];
        switch.state_mut().mt_add_entry("PatchIngress.forward", &key, "PatchIngress.to_port", &port, 0)
    };
    switch.with(to_cpu).unwrap().unwrap();
    switch.packet_out(b"a packet of the controller").unwrap();
    assert_eq!(switch.packet_ins().take(Duration::from_secs(30)), [b"a packet of the controller"]);
}

#[test]
fn ports_that_are_no_interfaces_cannot_be_added_and_a_stopped_switch_says_so() {
    let (switch, _, _) = switch(Some(patch()), SwitchConfig::default(), 0);
    switch.start().unwrap();
    assert!(switch.start().is_err());
    assert!(switch.remove_port(0).unwrap_err().to_string().contains("cannot be added or removed"));
    switch.stop();
    assert_eq!(switch.remove_port(0).unwrap_err().to_string(), "the switch has stopped");
}
