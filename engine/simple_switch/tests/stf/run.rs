//! One program and its script on one switch.

use std::collections::BTreeMap;
use std::sync::Arc;

use bm::{ActionInfo, CounterValue, Executable, MatchKeyParam, MatchType, Program, TableInfo};
use simple_switch::{DropCause, MirroringSession, NodeHandle, PortConfig, Switch, SwitchConfig};
use units::{Duration, Time};

use super::outcome::Outcome;
use super::script::{self, ActionCall, Pattern, Statement};

/// Time between packets; bmv2stf.py waits as long for a control command.
const PACKET_DELAY: Duration = Duration::from_us(1_000_000);

/// From bmv2stf.py: a higher priority is a lower number in BMv2.
const LOWEST_PRIORITY: i64 = 10_000;

/// The samples' byte counts include the FCS (IEEE 802.3 clause 3.2.9), which their packets, like BMv2's, do not have.
const FCS_BYTES: u64 = 4;

/// Why a script cannot continue.
pub enum Stop {
    Unsupported(String),
    Failed(String),
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Failed(error.to_string())
    }
}

pub fn failed<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Failed(reason.into()))
}

pub fn judge(json: &[u8], text: &str) -> Outcome {
    let statements = match script::parse(text) {
        Ok(statements) => statements,
        Err(reason) => return Outcome::Fail(reason),
    };
    let program = match Program::from_json(json) {
        Ok(program) => Executable::new(program),
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    match run(program, &statements) {
        Ok(()) => Outcome::Pass,
        Err(Stop::Failed(difference)) => Outcome::Fail(difference),
        Err(Stop::Unsupported(command)) => Outcome::Skipped(command),
    }
}

fn run(program: Arc<Executable>, statements: &[Statement]) -> Result<(), Stop> {
    let mut expected = BTreeMap::<u16, Vec<&Option<Pattern>>>::new();
    for statement in statements {
        match statement {
            Statement::Packet { port, .. } => {
                expected.entry(*port).or_default();
            }
            Statement::Expect { port, pattern } => expected.entry(*port).or_default().push(pattern),
            _ => (),
        }
    }
    // As in bmv2stf.py, only ports that the script names have a link; packets to other ports are not observed.
    let ports = expected.keys().map(|port| PortConfig::unlimited(*port)).collect();
    let switch = Switch::new(Arc::clone(&program), SwitchConfig { ports, ..SwitchConfig::default() })?;
    let mut bench = Bench {
        program,
        switch,
        now: Time::ZERO,
        labels: BTreeMap::new(),
        sent: BTreeMap::new(),
        log: Vec::new(),
    };
    for statement in statements {
        bench.execute(statement)?;
    }
    let stats = bench.switch.stats();
    if stats.drops.get(DropCause::ProgramFault) > 0 {
        return failed("the program failed on a packet, where BMv2 stops");
    }
    if !stats.is_balanced() {
        return failed(format!("packets are unaccounted for: {stats:?}"));
    }
    for (port, patterns) in &expected {
        let sent = bench.sent.remove(port).unwrap_or_default();
        compare(*port, patterns, &sent)?;
    }
    Ok(())
}

/// Compares the packets of a port, in order; none may be missing or in excess.
fn compare(port: u16, patterns: &[&Option<Pattern>], sent: &[Vec<u8>]) -> Result<(), Stop> {
    for (at, (pattern, frame)) in patterns.iter().zip(sent).enumerate() {
        let Some(pattern) = pattern else { continue };
        if let Some(difference) = pattern.difference(frame) {
            let got = hex(frame);
            return failed(format!("port {port} packet {at} {difference}; expected {pattern}, got {got}"));
        }
    }
    if let Some(pattern) = patterns.get(sent.len()) {
        let wanted = pattern.as_ref().map_or_else(|| "anything".to_owned(), Pattern::to_string);
        return failed(format!("port {port} sent {} packets; also expected {wanted}", sent.len()));
    }
    match sent.get(patterns.len()) {
        Some(frame) => {
            failed(format!("port {port} should send {} packets; also sent {}", patterns.len(), hex(frame)))
        }
        None => Ok(()),
    }
}

fn hex(frame: &[u8]) -> String {
    frame.iter().map(|byte| format!("{byte:02X}")).collect()
}

pub struct Bench {
    pub program: Arc<Executable>,
    pub switch: Switch,
    pub now: Time,
    /// Table and handle of the entries with a label.
    labels: BTreeMap<String, (String, u64)>,
    /// Packets that left, by port.
    sent: BTreeMap<u16, Vec<Vec<u8>>>,
    /// Messages of `log_msg`.
    pub log: Vec<String>,
}

impl Bench {
    fn execute(&mut self, statement: &Statement) -> Result<(), Stop> {
        match statement {
            Statement::Packet { port, bytes } => {
                self.packet(*port, bytes);
                Ok(())
            }
            Statement::Expect { .. } | Statement::Wait => Ok(()), // Packets are compared at the end.
            Statement::Add { table, priority, key, call, label } => {
                self.add(table, *priority, key, call, label.as_deref())
            }
            Statement::SetDefault { table, call } => {
                let program = Arc::clone(&self.program);
                let table = find_table(&program, table)?;
                let action = find_action(&program, table, &call.action)?;
                let data = action_data(action, call)?;
                Ok(self.switch.state_mut().mt_set_default_action(&table.name, &action.name, &data)?)
            }
            Statement::CheckCounter { counter, at, condition } => {
                condition.as_ref().map_or(Ok(()), |condition| self.check_counter(counter, at, condition))
            }
            Statement::Command(words) => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                self.command(&words)
            }
        }
    }

    fn packet(&mut self, port: u16, bytes: &[u8]) {
        self.now += PACKET_DELAY;
        self.switch.handle_packet(self.now, port, bytes, 0);
        let limit = self.now + PACKET_DELAY;
        while let Some(at) = self.switch.next_wakeup().filter(|at| *at < limit) {
            self.switch.handle_wakeup(at);
        }
        while let Some(transmit) = self.switch.poll_transmit() {
            self.sent.entry(transmit.port).or_default().push(transmit.frame.to_vec());
        }
    }

    fn add(
        &mut self,
        table: &str,
        priority: Option<u32>,
        fields: &[(String, String)],
        call: &ActionCall,
        label: Option<&str>,
    ) -> Result<(), Stop> {
        let program = Arc::clone(&self.program);
        let table = find_table(&program, table)?;
        let mut given = vec![None; table.key.len()];
        for (name, value) in fields {
            given[find_key(table, name)?] = Some(value.as_str());
        }
        let key =
            table.key.iter().zip(given).map(|(key, value)| {
                match_key(key.match_type, value.unwrap_or_else(|| anything(key.match_type)))
            });
        let key = key.collect::<Result<Vec<_>, Stop>>()?;
        let action = find_action(&program, table, &call.action)?;
        let priority = match (table.match_type, priority) {
            (MatchType::Ternary, Some(priority)) => u32::try_from(LOWEST_PRIORITY - i64::from(priority))?,
            (MatchType::Ternary, None) => return failed(format!("{} needs a priority", table.name)),
            _ => 0, // Given or not, BMv2 ignores it.
        };
        let data = action_data(action, call)?;
        let handle =
            self.switch.state_mut().mt_add_entry(&table.name, &key, &action.name, &data, priority)?;
        if let Some(label) = label {
            self.labels.insert(label.to_owned(), (table.name.clone(), handle));
        }
        Ok(())
    }

    fn check_counter(
        &self,
        counter: &str,
        at: &str,
        (count, comparison, number): &(String, String, u64),
    ) -> Result<(), Stop> {
        let arrays = self.program.counter_arrays();
        let counter = only(arrays.iter(), counter, |array| &array.name, "counter")?;
        let value = match at.strip_prefix('$') {
            Some(label) => {
                let Some((table, handle)) = self.labels.get(label) else {
                    return failed(format!("no entry has the label {label}"));
                };
                self.switch.state().mt_read_counters(table, Some(*handle))?
            }
            None => self.switch.state().read_counters(&counter.name, at.parse()?)?,
        };
        let value = match count.as_str() {
            "packets" => value.packets,
            "bytes" => value.bytes + FCS_BYTES * value.packets,
            _ => return failed(format!("{count} is neither packets nor bytes")),
        };
        let is_met = match comparison.as_str() {
            "==" => value == *number,
            "!=" => value != *number,
            "<" => value < *number,
            "<=" => value <= *number,
            ">" => value > *number,
            ">=" => value >= *number,
            _ => return failed(format!("{comparison} is not a comparison")),
        };
        if is_met {
            return Ok(());
        }
        failed(format!("{}({at}) counted {value} {count}, expected {comparison} {number}", counter.name))
    }

    /// What bmv2stf.py hands to `simple_switch_CLI` as it stands.
    fn command(&mut self, words: &[&str]) -> Result<(), Stop> {
        let program = Arc::clone(&self.program);
        let register = |name| only(program.register_arrays().iter(), name, |array| &array.name, "register");
        let counter = |name| only(program.counter_arrays().iter(), name, |array| &array.name, "counter");
        let (switch, number) = (&mut self.switch, |word: &str| word.parse::<u16>());
        match words {
            ["mirroring_add", id, port] => {
                let session = MirroringSession { egress_port: Some(number(port)?), ..Default::default() };
                switch.set_session(number(id)?, session)?;
            }
            ["mirroring_add_mc", id, group] => {
                let session = MirroringSession { mgid: Some(number(group)?), ..Default::default() };
                switch.set_session(number(id)?, session)?;
            }
            ["mirroring_delete", id] => switch.delete_session(number(id)?)?,
            ["mc_mgrp_create", group] => switch.pre_mut().mc_mgrp_create(number(group)?)?,
            ["mc_node_create", rid, ports @ ..] => {
                let ports = ports.iter().map(|port| number(port)).collect::<Result<Vec<_>, _>>()?;
                switch.pre_mut().mc_node_create(number(rid)?, &ports, &[])?;
            }
            ["mc_node_associate", group, node] => {
                switch.pre_mut().mc_node_associate(number(group)?, NodeHandle(node.parse()?))?;
            }
            ["counter_write", name, index, packets, bytes] => {
                let value = CounterValue { packets: packets.parse()?, bytes: bytes.parse()? };
                switch.state_mut().write_counters(&counter(name)?.name, index.parse()?, value)?;
            }
            ["register_write", name, index, value] => {
                let value = value_bytes(value)?;
                switch.state_mut().register_write(&register(name)?.name, index.parse()?, &value)?;
            }
            ["register_reset", name] => switch.state_mut().register_reset(&register(name)?.name)?,
            // These only print.
            ["mirroring_get", _] => (),
            ["counter_read", name, _] => counter(name).map(|_| ())?,
            ["register_read", name, _] => register(name).map(|_| ())?,
            _ => return self.cli(words),
        }
        Ok(())
    }
}

/// Returns the object of this name, else the only one whose name ends so.
pub fn only<'a, T>(
    all: impl Iterator<Item = &'a T> + Clone,
    name: &str,
    name_of: impl Fn(&'a T) -> &'a str,
    kind: &str,
) -> Result<&'a T, Stop> {
    if let Some(found) = all.clone().find(|item| name_of(item) == name) {
        return Ok(found);
    }
    let mut ending = all.filter(|item| name_of(item).ends_with(name));
    match (ending.next(), ending.next()) {
        (Some(found), None) => Ok(found),
        (Some(_), Some(_)) => failed(format!("{kind} {name}: several have names that end so")),
        (None, _) => failed(format!("{kind} {name}: there is none")),
    }
}

pub fn find_table<'a>(program: &'a Program, name: &str) -> Result<&'a TableInfo, Stop> {
    only(program.tables().iter(), name, |table| &table.name, "table")
}

pub fn find_action<'a>(program: &'a Program, table: &TableInfo, name: &str) -> Result<&'a ActionInfo, Stop> {
    let actions = table.actions.iter().map(|id| &program.actions()[id.index()]);
    only(actions, name, |action| &action.name, "action")
}

/// Returns the field of the key that is meant, by the rules of bmv2stf.py.
fn find_key(table: &TableInfo, name: &str) -> Result<usize, Stop> {
    // `$1` is how the STF grammar writes `[1]`.
    let name = match name.split_once('$') {
        Some((stack, rest)) if rest.starts_with(|digit: char| digit.is_ascii_digit()) => {
            let end = rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(rest.len());
            format!("{stack}[{}]{}", &rest[..end], &rest[end..])
        }
        _ => name.to_owned(),
    };
    let mut whole = vec![name.clone(), format!("{name}$"), format!("{name}.$valid$")];
    whole.extend(name.strip_suffix("valid").map(|header| format!("{header}$valid$")));
    let position = |wanted: &String| table.key.iter().position(|key| key.name == *wanted);
    let by_ending = || {
        let endings = [format!(".{name}"), format!(".{name}$")];
        table.key.iter().rposition(|key| {
            endings.iter().any(|ending| key.name.ends_with(ending))
                || name == "valid" && key.name.ends_with("$valid$")
        })
    };
    match whole.iter().find_map(position).or_else(by_ending) {
        Some(at) => Ok(at),
        None => {
            let names: Vec<_> = table.key.iter().map(|key| key.name.as_str()).collect();
            failed(format!("table {}: no key {name}; it has {}", table.name, names.join(", ")))
        }
    }
}

fn action_data(action: &ActionInfo, call: &ActionCall) -> Result<Vec<Vec<u8>>, Stop> {
    if let Some((name, _)) =
        call.arguments.iter().find(|(name, _)| action.params.iter().all(|param| param.name != *name))
    {
        return failed(format!("action {}: no parameter {name}", action.name));
    }
    let value = |param: &bm::ParamInfo| match call.arguments.iter().find(|(name, _)| *name == param.name) {
        Some((_, value)) => value_bytes(value),
        None => failed(format!("action {}: parameter {} is not given", action.name, param.name)),
    };
    action.params.iter().map(value).collect()
}

/// Digits, and how many bits each is.
fn digits(text: &str) -> (&str, u32) {
    let prefixes = [("0x", 4), ("0b", 1), ("0o", 3)];
    let found = prefixes.iter().find_map(|(prefix, bits)| Some((text.strip_prefix(prefix)?, *bits)));
    found.unwrap_or((text, 0))
}

fn value(text: &str) -> Result<u128, Stop> {
    let (digits, bits) = digits(text);
    let radix = if bits == 0 { 10 } else { 1 << bits };
    u128::from_str_radix(digits, radix).map_err(|error| Stop::Failed(format!("number {text}: {error}")))
}

/// Returns the big-endian bytes of a number; one in hexadecimal may have any length.
pub fn value_bytes(text: &str) -> Result<Vec<u8>, Stop> {
    let Some(digits) = text.strip_prefix("0x") else { return Ok(value(text)?.to_be_bytes().to_vec()) };
    let digits = if digits.len() % 2 == 0 { digits.to_owned() } else { format!("0{digits}") };
    let pairs = (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16));
    Ok(pairs.collect::<Result<_, _>>()?)
}

/// Returns what bmv2stf.py gives for a field of a key that is not given: it matches anything, or 0 where it must be equal.
fn anything(match_type: MatchType) -> &'static str {
    match match_type {
        MatchType::Ternary => "0x*",
        MatchType::Lpm => "0/0",
        _ => "0",
    }
}

/// Returns a field of a key as bmv2stf.py or `simple_switch_CLI` reads it.
pub fn match_key(match_type: MatchType, text: &str) -> Result<MatchKeyParam, Stop> {
    match match_type {
        MatchType::Exact => Ok(MatchKeyParam::Exact(value_bytes(text)?)),
        MatchType::Valid => Ok(MatchKeyParam::Valid(value(text)? != 0)),
        MatchType::Lpm => {
            if let Some((prefix, length)) = text.split_once('/') {
                return Ok(MatchKeyParam::Lpm(value_bytes(prefix)?, length.parse()?));
            }
            let (digits, bits) = digits(text);
            if bits == 0 {
                return failed(format!("prefix {text}: its length is not given"));
            }
            let length = digits.chars().filter(|digit| *digit != '*').count() as u32 * bits;
            Ok(MatchKeyParam::Lpm(value_bytes(&text.replace('*', "0"))?, length))
        }
        MatchType::Ternary => {
            if let Some((value, mask)) = text.split_once("&&&") {
                return Ok(MatchKeyParam::Ternary(value_bytes(value)?, value_bytes(mask)?));
            }
            let (digits, bits) = digits(text);
            if bits == 0 {
                return failed(format!("ternary {text}: bmv2stf.py takes no decimal numbers there"));
            }
            // Only written digits matter; bits to the left of them do not.
            let mask = digits
                .chars()
                .fold(0u128, |mask, digit| mask << bits | if digit == '*' { 0 } else { (1 << bits) - 1 });
            Ok(MatchKeyParam::Ternary(value_bytes(&text.replace('*', "0"))?, mask.to_be_bytes().to_vec()))
        }
        MatchType::Range => match text.split_once("->") {
            Some((first, last)) => Ok(MatchKeyParam::Range(value_bytes(first)?, value_bytes(last)?)),
            None => Err(Stop::Unsupported("a range key, which bmv2stf.py does not have".to_owned())),
        },
    }
}
