//! Idle time-outs of table entries in virtual time, on `tests/constructs/idle_timeout.p4`: the entries that a sweep
//! reports as packets arrive or stay away. The control plane runs the sweeps and uses their reports.

use bm::{Executable, MatchKeyParam, Program};
use simple_switch::{PortConfig, Switch, SwitchConfig};
use units::{Duration, Time};

const TABLE: &str = "ingress.ages";
const NONE: [u64; 0] = [];

fn ms(count: u64) -> Time {
    Time::ZERO + Duration::from_us(1000 * count)
}

/// Returns a switch with entries for keys 0 to 2, whose handles are the keys.
fn switch() -> Switch {
    let program = Program::from_json(include_bytes!("../constructs/idle_timeout.json")).expect("it loads");
    let ports = (0..2).map(PortConfig::unlimited).collect();
    let config = SwitchConfig { ports, ..SwitchConfig::default() };
    let mut switch = Switch::new(Executable::new(program), config).expect("the settings suit");
    for key in 0..3 {
        let handle = switch
            .state_mut()
            .mt_add_entry(TABLE, &[MatchKeyParam::Exact(vec![key])], "ingress.found", &[vec![7]], 0)
            .expect("there is room");
        assert_eq!(handle, u64::from(key));
    }
    switch
}

fn set_timeout(switch: &mut Switch, handle: u64, timeout_ms: u64, now: Time) {
    let ttl_ns = ms(timeout_ms).as_ps() / 1_000;
    switch.state_mut().mt_set_entry_ttl(TABLE, handle, ttl_ns, now.as_ps()).expect("the table ages");
}

/// Lets a packet hit the entry of a key.
fn hit(switch: &mut Switch, key: u8, now: Time) {
    switch.handle_packet(now, 0, &[key, 0], 0);
    let sent = switch.poll_transmit().expect("it leaves");
    assert_eq!(sent.frame.to_vec(), [key, 7], "the entry is there");
}

fn sweep(switch: &mut Switch, now: Time) -> Vec<u64> {
    switch.state_mut().mt_sweep_entries(TABLE, now.as_ps()).expect("the table ages")
}

#[test]
fn only_entries_that_no_packet_hit_for_their_time_out_are_told_of() {
    let mut switch = switch();
    set_timeout(&mut switch, 0, 10, ms(1));
    set_timeout(&mut switch, 1, 20, ms(1));
    hit(&mut switch, 0, ms(8));
    assert_eq!(sweep(&mut switch, ms(17)), NONE);
    assert_eq!(sweep(&mut switch, ms(18)), [0]);
    assert_eq!(sweep(&mut switch, ms(21)), [1]);
    // Entry 2 has no time-out.
    assert_eq!(sweep(&mut switch, ms(1_000_000)), [0, 1]);
}

#[test]
fn an_entry_that_was_told_of_still_forwards_and_a_hit_makes_it_young_again() {
    let mut switch = switch();
    set_timeout(&mut switch, 1, 10, ms(0));
    assert_eq!(sweep(&mut switch, ms(10)), [1]);
    hit(&mut switch, 1, ms(15));
    assert_eq!(sweep(&mut switch, ms(24)), NONE);
    assert_eq!(sweep(&mut switch, ms(25)), [1]);
    assert_eq!(switch.state().mt_get_entry_idle(TABLE, 1, ms(25).as_ps()), Ok(ms(10).as_ps()));
}

#[test]
fn an_entry_in_the_place_of_a_deleted_one_has_no_time_out() {
    let mut switch = switch();
    set_timeout(&mut switch, 1, 10, ms(0));
    switch.state_mut().mt_delete_entry(TABLE, 1).expect("it is there");
    let handle = switch
        .state_mut()
        .mt_add_entry(TABLE, &[MatchKeyParam::Exact(vec![1])], "ingress.found", &[vec![7]], 0)
        .expect("there is room");
    assert_eq!(sweep(&mut switch, ms(1000)), NONE);
    assert_eq!(switch.state().mt_get_entry_ttl(TABLE, handle), Ok(0));
}

#[test]
fn a_table_without_support_timeout_takes_none() {
    let mut switch = switch();
    let error = switch.state_mut().mt_sweep_entries("ingress.stays", 0).expect_err("it does not age");
    assert_eq!(error.code, "WRONG_TABLE_TYPE", "{error}");
}
