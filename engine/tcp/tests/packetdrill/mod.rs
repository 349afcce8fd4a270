//! Plays packetdrill scripts (the language in which the authors of Linux's TCP write its tests) against our endpoints.
//!
//! `PACKETDRILL=folder cargo test --test it packetdrill -- --ignored --nocapture` plays every script below a folder and prints
//! a table. The folder is a checkout of github.com/google/packetdrill, or Linux's `tools/testing/selftests/net/packetdrill`. A script
//! that differs must be listed in `differences.txt` with the reason, and a listed script must differ.

#![allow(clippy::print_stdout)] // Prints the table of public scripts.

mod ours;
mod parse;
mod play;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use play::Outcome;

fn outcome(text: &str) -> Outcome {
    match parse::script(text) {
        Ok(script) => play::play(&script),
        Err(reason) => Outcome::DoesNotApply(reason),
    }
}

/// A server that sends ten segments, the first of which is lost.
const LOSS: &str = "
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 listen(3, 1) = 0
  +.1 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,nop,wscale 8>
  +.1 < . 1:1(0) ack 1 win 320
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 10000) = 10000
   +0 > P. 1:10001(10000) ack 1
  +.1 < . 1:1(0) ack 1 win 320 <sack 1001:4001>
   +0 > . 1:1001(1000) ack 1
   +0 %{ assert tcpi_snd_ssthresh == 7, tcpi_snd_ssthresh }%
  +.1 < . 1:1(0) ack 10001 win 320
 +.01 < P. 1:1001(1000) ack 10001 win 320
   +0 > . 10001:10001(0) ack 1001
   +0 read(4, ..., 1000) = 1000
   +0 close(4) = 0
   +0 > F. 10001:10001(0) ack 1001
";

#[test]
fn a_script_of_ours_passes_and_its_statements_are_compared() {
    assert_eq!(outcome(LOSS), Outcome::Passes { compared: 1, passed_over: 0 });
}

#[test]
fn a_script_that_expects_something_else_differs_at_its_line() {
    let changes = [
        ("1:10001(10000) ack 1", "2:10001(9999) ack 1", 9),
        ("1:1001(1000) ack 1\n   +0 %", "1001:2001(1000) ack 1\n   +0 %", 11),
        ("+0 > . 1:1001(1000)", "+.1 > . 1:1001(1000)", 11),
        ("ssthresh == 7", "ssthresh == 5", 12),
        (") ack 1001\n   +0 read", ") ack 501\n   +0 read", 15),
        ("read(4, ..., 1000) = 1000", "read(4, ..., 1000) = 500", 16),
        ("sackOK,nop,wscale 8", "nop,wscale 8", 5),
    ];
    each_change_differs(LOSS, &changes);
}

#[test]
fn what_our_endpoints_do_not_have_is_named() {
    for (said, instead, reason) in [
        ("read(4", "splice(4", "splice"),
        ("sackOK,nop,wscale 7>", "sackOK,FO abcd>", "FO"),
        ("    0 socket", "`sysctl net.ipv4.tcp_mtu_probing=2`\n    0 socket", "tcp_mtu_probing"),
    ] {
        match outcome(&LOSS.replacen(said, instead, 1)) {
            Outcome::DoesNotApply(why) => assert!(why.contains(reason), "{why}"),
            other => panic!("{instead}: {other:?}"),
        }
    }
}

/// A server in our form of the language: everything that leaves is told, with its time, its window, PSH and codepoint.
const OURS: &str = "
--endpoint=ecn delayed_ack=2/40ms
--established=10ms
 +0   write(4, ..., 2000) = 2000
 +0   > [ect0] P. 1:2001(2000) ack 1
 +0   < . 1:101(100) ack 2001
 +.04 > . 2001:2001(0) ack 101 win 65534
 +0   %{ cwnd == 10000, end == none }%
";

#[test]
fn a_script_of_ours_that_leaves_something_out_differs_at_its_line() {
    assert_eq!(outcome(OURS), Outcome::Passes { compared: 2, passed_over: 0 });
    let changes = [
        (" +0   > [ect0] P. 1:2001(2000) ack 1\n", "", 5),
        ("> [ect0] P. 1:2001(2000)", "> [ect0] P. 1:1001(1000)", 5),
        ("[ect0] P.", "P.", 5),
        ("[ect0] P.", "[ect0] .", 5),
        ("+.04 >", "+.039 >", 7),
        (" win 65534", "", 7),
        ("+.04 > . 2001:2001(0) ack 101 win 65534\n +0 ", "+.04 ", 7),
        ("cwnd == 10000", "cwnd == 9000", 8),
        ("end == none", "end == Finished", 8),
    ];
    each_change_differs(OURS, &changes);
}

/// Checks that a script, in which the first text of a change is replaced by the second, differs at the change's line.
fn each_change_differs(script: &str, changes: &[(&str, &str, usize)]) {
    for (said, instead, line) in changes {
        assert!(script.contains(said), "{said}");
        match outcome(&script.replacen(said, instead, 1)) {
            Outcome::Differs(at, what) => assert_eq!(at, *line, "{instead}: {what}"),
            other => panic!("{instead}: {other:?}"),
        }
    }
}

/// A client whose segments are acknowledged round by round, and then lost.
const ROUNDS: &str = "
--endpoint=newreno
--established=10ms
2 times {
 +0   write(4, ..., 1000) = 1000
 +.01 round(4) = 0
}
 +0   write(4, ..., 2000) = 2000
 +0   lose(4) = 2
 +0   %{ acknowledged == 2000 }%
 +.2  > . 2001:3001(1000) ack 1
";

#[test]
fn rounds_and_losses_are_counted_and_what_leaves_after_a_loss_is_expected() {
    assert_eq!(outcome(ROUNDS), Outcome::Passes { compared: 1, passed_over: 0 });
    let changes = [
        ("round(4) = 0", "round(4) = 1", 6),
        ("lose(4) = 2", "lose(4) = 1", 9),
        ("2 times", "3 times", 10),
        ("2001:3001(1000)", "1:1001(1000)", 11),
        (" +.2  > . 2001:3001(1000) ack 1", " +.21 %{ cwnd == 1000 }%", 11),
    ];
    each_change_differs(ROUNDS, &changes);
}

/// Plays the scripts in `tests/scripts`: a line `[situation_and_outcome]` begins one, and its lines count from there.
#[test]
fn scripts_of_ours_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut found = Vec::new();
    scripts(&folder, &mut found);
    let mut failed = Vec::new();
    assert!(!found.is_empty(), "{}", folder.display());
    for path in found {
        let text = std::fs::read_to_string(&path).expect("a script");
        let (head, named) = text.split_once("\n[").expect("a script with a name");
        assert!(!head.contains("--endpoint="), "{}: a script has no name", path.display());
        for (name, script) in named.split("\n[").map(|one| one.split_once("]\n").expect("a name")) {
            assert!(script.contains("--endpoint="), "{name}: would be played as one of Linux's");
            match outcome(script) {
                Outcome::Passes { .. } => {}
                other => failed.push(format!("{} of {}: {other:?}", name, path.display())),
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.map(|entry| entry.expect("a folder's entry").path()) {
        if entry.is_dir() {
            scripts(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "pkt") {
            found.push(entry);
        }
    }
}

/// Returns the ends of the paths of scripts that differ, each with the reason.
fn differences() -> Vec<(&'static str, &'static str)> {
    let mut reason = "";
    let mut all = Vec::new();
    for line in include_str!("differences.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("    ") {
            Some(end) => all.push((end, reason)),
            None => reason = line,
        }
    }
    all
}

#[test]
#[ignore = "needs PACKETDRILL=folder of scripts"]
fn public_scripts() {
    let folder =
        PathBuf::from(std::env::var_os("PACKETDRILL").expect("PACKETDRILL names a folder of scripts"));
    let mut found = Vec::new();
    scripts(&folder, &mut found);
    found.sort();
    let differences = differences();
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut unexpected = Vec::new();
    for path in &found {
        let name = path.strip_prefix(&folder).unwrap_or(path).display();
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("a script")).into_owned();
        let (kind, note) = match outcome(&text) {
            Outcome::Passes { compared, passed_over } => {
                ("passes", format!("{compared} statements compared, {passed_over} not"))
            }
            Outcome::Differs(line, what) => ("differs", format!("line {line}: {what}")),
            Outcome::DoesNotApply(reason) => ("does not apply", reason),
        };
        let known = differences.iter().find(|(end, _)| path.ends_with(end));
        if (kind == "differs") != known.is_some() {
            unexpected.push(format!("{name} {kind}, {note}; known: {known:?}"));
        }
        let note = known.map_or(note.clone(), |(_, reason)| format!("{reason} ({note})"));
        *counts.entry(kind).or_default() += 1;
        println!("| `{name}` | {kind} | {note} |");
    }
    println!("{counts:?}");
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}
