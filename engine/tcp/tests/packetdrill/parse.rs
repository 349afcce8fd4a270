//! A parser of packetdrill's language, as far as one connection needs it. It names statements that it cannot read.

use std::iter::Peekable;
use std::str::Lines;

use units::Duration;
use wire::tcp::{ACK, CWR, ECE, FIN, PSH, RST, SYN};
use wire::tcp_options::{Options, SackBlock, Timestamps};
use wire::Ecn;

/// The time of an event.
#[derive(Clone, Copy, Debug)]
pub enum When {
    /// Since the start.
    At(Duration),
    /// After the previous event: earliest and latest time.
    After(Duration, Duration),
}

/// A packet in a script's notation: numbers count from the first SYN of each direction.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    pub ecn: Option<Ecn>,
    pub flags: u8,
    /// The flag AE (RFC 9768).
    pub ae: bool,
    pub start: u32,
    pub len: u32,
    pub acknowledgement: Option<u32>,
    pub window: Option<u16>,
    pub options: Options,
    /// `<...>`: any options.
    pub any_options: bool,
    /// Whether it has the AccECN option, which our endpoints lack.
    pub accecn_option: bool,
}

#[derive(Clone, Debug)]
pub enum What {
    /// The peer sends.
    In(Packet),
    /// This end is expected to send.
    Out(Packet),
    /// A call of the application: name, arguments, result.
    Call { name: String, arguments: String, result: i64 },
    /// Expected values of `TCP_INFO`, and the number of other statements.
    Assert(Vec<(String, i64)>, usize),
    /// Expected values of our endpoint, as text.
    Is(Vec<(String, String)>),
}

#[derive(Clone, Debug)]
pub struct Event {
    pub line: usize,
    pub when: When,
    pub what: What,
}

#[derive(Clone, Debug, Default)]
pub struct Script {
    /// `net.ipv4.` settings that differ from the usual ones, without that prefix.
    pub sysctls: Vec<(String, String)>,
    pub tolerance: Option<Duration>,
    /// The settings of a script of ours.
    pub endpoint: Option<String>,
    /// The round-trip time of the handshake that precedes a script of ours.
    pub established: Option<Duration>,
    /// Whether timestamp values are compared, not only their echoes.
    pub compares_timestamps: bool,
    pub events: Vec<Event>,
}

/// Parses a script. The error is the reason why it does not apply.
pub fn script(text: &str) -> Result<Script, String> {
    let text = without_block_comments(text);
    let mut script = Script::default();
    let mut lines = text.lines().peekable();
    let mut number = 0;
    let mut repeated = None;
    while let Some(line) = lines.next() {
        number += 1;
        let at = number;
        let line = line.split("//").next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        if let Some(times) = line.strip_suffix(" times {") {
            let times: usize = times.parse().map_err(|_| format!("the line {line:?}"))?;
            repeated = Some((times, script.events.len()));
        } else if line == "}" {
            let (times, first) = repeated.take().ok_or("the end of a repetition")?;
            let once = script.events.split_off(first);
            script.events.extend(std::iter::repeat_n(once, times).flatten());
        } else if let Some(option) = line.strip_prefix("--") {
            option_of(option, &mut script)?;
        } else if let Some(rest) = line.strip_prefix('`') {
            shell(&block(rest, "`", &mut lines, &mut number), &mut script)?;
        } else {
            let (when, rest) = when(line)?;
            let what = if let Some(rest) = rest.strip_prefix("%{") {
                let text = block(rest, "}%", &mut lines, &mut number);
                if script.endpoint.is_some() {
                    values(&text)?
                } else {
                    assertions(&text)?
                }
            } else if let Some(rest) = rest.strip_prefix('`') {
                shell(&block(rest, "`", &mut lines, &mut number), &mut script)?;
                continue;
            } else if let Some(rest) = rest.strip_prefix("< ") {
                What::In(packet(rest)?)
            } else if let Some(rest) = rest.strip_prefix("> ") {
                What::Out(packet(rest)?)
            } else {
                call(rest)?
            };
            script.events.push(Event { line: at, when, what });
        }
    }
    Ok(script)
}

fn without_block_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (comment, rest) = part.split_once("*/").unwrap_or((part, ""));
        out.extend(comment.chars().filter(|one| *one == '\n'));
        out.push_str(rest);
    }
    out
}

fn block(first: &str, end: &str, lines: &mut Peekable<Lines<'_>>, number: &mut usize) -> String {
    let mut out = String::new();
    let mut line = first;
    loop {
        if let Some((before, _)) = line.split_once(end) {
            out.push_str(before);
            return out;
        }
        out.push_str(line);
        out.push('\n');
        let Some(next) = lines.next() else { return out };
        (line, *number) = (next, *number + 1);
    }
}

fn option_of(option: &str, script: &mut Script) -> Result<(), String> {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    match name {
        "tolerance_usecs" => {
            script.tolerance = Some(Duration::from_us(value.parse().map_err(|_| "a tolerance")?));
        }
        "endpoint" => script.endpoint = Some(value.to_owned()),
        "established" => {
            script.established = Some(value.parse().map_err(|_| format!("the round-trip time {value}"))?);
        }
        "tcp_ts_tick_usecs" if value == "1000" => script.compares_timestamps = true,
        // The size at which Linux's device coalesces received segments.
        "mss" => {}
        "ip_version" if value == "ipv4" => {}
        _ => return Err(format!("the option --{name}")),
    }
    Ok(())
}

/// Linux settings without a counterpart here, because nothing depends on them: offloads, buffers, caches.
const WITHOUT_EFFECT: [&str; 6] = [
    "tcp_tso_win_divisor",
    "tcp_min_tso_segs",
    "tcp_wmem",
    "tcp_no_metrics_save",
    "tcp_limit_output_bytes",
    "tcp_autocorking",
];

fn shell(text: &str, script: &mut Script) -> Result<(), String> {
    for command in text.lines().flat_map(|line| line.split(" ; ")) {
        let words: Vec<&str> = command
            .split('#')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .filter(|word| *word != "\\")
            .collect();
        let Some(first) = words.first() else { continue };
        if first.ends_with("defaults.sh") || first.contains("sysctl_restore") {
            continue;
        }
        // A queueing discipline: scripts about windows do not examine pacing by fq.
        if *first == "tc" && words.contains(&"replace") && words.contains(&"fq") {
            continue;
        }
        let settings = match *first {
            "sysctl" => &words[1..],
            _ if first.ends_with("set_sysctls.py") => &words[1..],
            _ if first.starts_with("/proc/sys") => &words[..],
            _ => return Err(format!("the command {first}")),
        };
        if let Some(bytes) = largest_buffer(command) {
            script.sysctls.push(("tcp_rmem".to_owned(), bytes.to_string()));
            continue;
        }
        for setting in settings.iter().filter(|word| !word.starts_with('-')) {
            // The rest of a quoted list of sizes.
            if setting.ends_with('"') || setting.chars().all(|one| one.is_ascii_digit()) {
                continue;
            }
            let (name, value) = setting.split_once('=').ok_or_else(|| format!("the command {command}"))?;
            let name = name.rsplit(['.', '/']).next().unwrap_or(name);
            if !WITHOUT_EFFECT.contains(&name) {
                script.sysctls.push((name.to_owned(), value.to_owned()));
            }
        }
    }
    Ok(())
}

/// Returns the last of the three numbers of `tcp_rmem="4096 131072 $((32*1024*1024))"`.
fn largest_buffer(command: &str) -> Option<u64> {
    let (_, values) = command.split_once("tcp_rmem=\"")?;
    let last = values.split('"').next()?.split_whitespace().last()?;
    last.trim_matches(['$', '(', ')']).split('*').map(|factor| factor.parse::<u64>().ok()).product()
}

fn seconds(text: &str) -> Result<Duration, String> {
    let value: f64 = text.parse().map_err(|_| format!("the time {text:?}"))?;
    Ok(Duration::from_us((value * 1e6).round() as u64))
}

fn when(line: &str) -> Result<(When, &str), String> {
    if let Some((from, rest)) = line.split_once('~').filter(|(from, _)| from.ends_with(' ')) {
        // `+.02 ~ +1.1 >`.
        let (to, rest) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest, ""));
        let bounds = (seconds(from.trim().trim_start_matches('+'))?, seconds(to.trim_start_matches('+'))?);
        return Ok((When::After(bounds.0, bounds.1), rest.trim()));
    }
    let (word, rest) = line.split_once(char::is_whitespace).ok_or_else(|| format!("the line {line:?}"))?;
    let rest = rest.trim();
    if word.contains("...") || rest.starts_with("...") {
        // Blocking calls run concurrently with later events. A blocking connect has begun at this time.
        let is_connect = rest.contains("connect(");
        let call = rest.find("connect(").map_or("", |at| &rest[at..]);
        let start = word.split("...").next().unwrap_or_default();
        return if is_connect {
            when(&format!("{start} x")).map(|(when, _)| (when, call))
        } else {
            Err("a call that blocks".to_owned())
        };
    }
    if let Some((from, to)) = word.split_once('~') {
        let bounds = (seconds(from.trim_start_matches('+'))?, seconds(to.trim_start_matches('+'))?);
        return Ok((When::After(bounds.0, bounds.1), rest));
    }
    Ok(match word.strip_prefix('+') {
        Some(word) => {
            let span = seconds(word)?;
            (When::After(span, span), rest)
        }
        None => (When::At(seconds(word)?), rest),
    })
}

fn packet(text: &str) -> Result<Packet, String> {
    let mut text = text.trim();
    let mut ecn = None;
    if let Some(rest) = text.strip_prefix('[') {
        let (name, rest) = rest.split_once(']').ok_or("a packet's brackets")?;
        ecn = Some(match name.trim() {
            "noecn" => Ecn::NotEct,
            "ect0" => Ecn::Ect0,
            "ect1" => Ecn::Ect1,
            "ce" => Ecn::Ce,
            other => return Err(format!("the packet's property {other}")),
        });
        text = rest.trim();
    }
    let (head, options) = match text.split_once('<') {
        Some((head, options)) => (head, Some(options.split('>').next().unwrap_or_default())),
        None => (text, None),
    };
    let mut words = head.split_whitespace();
    let (flags, ae) = flags(words.next().unwrap_or_default())?;
    let (start, len) = words.next().and_then(range).ok_or_else(|| format!("the packet {text:?}"))?;
    let mut packet =
        Packet { ecn, flags, ae, start, len, any_options: options == Some("..."), ..Packet::default() };
    while let Some(word) = words.next() {
        let mut value =
            || words.next().and_then(|value| value.parse().ok()).ok_or_else(|| format!("{word} of {text:?}"));
        match word {
            "ack" => packet.acknowledgement = Some(value()?),
            "win" => packet.window = Some(value()? as u16),
            _ => return Err(format!("the packet's field {word}")),
        }
    }
    if let Some(options) = options.filter(|_| !packet.any_options) {
        read_options(options, &mut packet)?;
    }
    Ok(packet)
}

/// Parses `S`, `P.` or `SEWA`; a digit is the field ACE (RFC 9768, 3.2.2) as a number. Returns the flags, and whether AE is set.
fn flags(text: &str) -> Result<(u8, bool), String> {
    let mut all = (0, false);
    for one in text.chars() {
        all.0 |= match one {
            'S' => SYN,
            'F' => FIN,
            'P' => PSH,
            'R' => RST,
            'E' => ECE,
            'W' => CWR,
            '.' => ACK,
            '-' => 0,
            'A' => {
                all.1 = true;
                0
            }
            '0'..='7' => {
                let ace = one as u8 - b'0';
                all.1 |= ace & 4 != 0;
                (if ace & 2 != 0 { CWR } else { 0 }) | (if ace & 1 != 0 { ECE } else { 0 })
            }
            _ => return Err(format!("the flags {text}")),
        };
    }
    Ok(all)
}

/// Parses `1:1001(1000)`.
fn range(text: &str) -> Option<(u32, u32)> {
    let (start, rest) = text.split_once(':')?;
    let (_, len) = rest.split_once('(')?;
    Some((start.parse().ok()?, len.strip_suffix(')')?.parse().ok()?))
}

fn read_options(text: &str, packet: &mut Packet) -> Result<(), String> {
    for option in text.split(',').map(str::trim).filter(|option| !option.is_empty()) {
        let words: Vec<&str> = option.split_whitespace().collect();
        let number = |index: usize| {
            words
                .get(index)
                .and_then(|word| word.parse::<u32>().ok())
                .ok_or_else(|| format!("the option {option}"))
        };
        match words[0] {
            "nop" | "eol" => {}
            "ECN" => packet.accecn_option = true,
            "mss" => packet.options.mss = Some(number(1)? as u16),
            "wscale" => packet.options.window_scale = Some(number(1)? as u8),
            "sackOK" => packet.options.sack_permitted = true,
            "TS" => {
                packet.options.timestamps = Some(Timestamps { value: number(2)?, echo_reply: number(4)? });
            }
            "sack" => {
                for block in &words[1..] {
                    let (left, right) =
                        block.split_once(':').ok_or_else(|| format!("the option {option}"))?;
                    let edge = |text: &str| text.parse().map_err(|_| format!("the option {option}"));
                    packet.options.sack.push(SackBlock { left: edge(left)?, right: edge(right)? });
                }
            }
            other => return Err(format!("the option {other}")),
        }
    }
    Ok(())
}

fn call(text: &str) -> Result<What, String> {
    let (name, rest) = text.split_once('(').ok_or_else(|| format!("the line {text:?}"))?;
    let (arguments, result) = rest.rsplit_once(" = ").ok_or_else(|| format!("the call {text:?}"))?;
    if let Some(error) = ["EFAULT", "EINVAL"].iter().find(|error| result.contains(**error)) {
        return Err(format!("a bad argument: {error} of {name}"));
    }
    let result = result.split_whitespace().next().unwrap_or_default();
    let number = match result.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => result.parse(),
    };
    let result = number.map_err(|_| format!("the result {result} of {name}"))?;
    let arguments = arguments.trim().trim_end_matches(')').to_owned();
    Ok(What::Call { name: name.trim().to_owned(), arguments, result })
}

/// Parses `cwnd == 5000, rto == 300ms`.
fn values(text: &str) -> Result<What, String> {
    let value = |one: &str| {
        let (name, value) = one.split_once(" == ").ok_or_else(|| format!("the value {one}"))?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    text.split(',').map(value).collect::<Result<_, String>>().map(What::Is)
}

/// Parses Python statements: understands `assert tcpi_x == number`, and counts all others.
fn assertions(text: &str) -> Result<What, String> {
    let mut known = Vec::new();
    let mut others = 0;
    let statements = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    for statement in
        statements.flat_map(|line| line.split(';')).map(|one| one.trim().trim_end_matches('\\').trim())
    {
        let Some(condition) = statement.strip_prefix("assert ") else {
            others += usize::from(!statement.is_empty() && !statement.starts_with("print"));
            continue;
        };
        let condition = condition.split(',').next().unwrap_or_default().trim();
        let (name, value) = condition.split_once("==").unwrap_or((condition, ""));
        let value = match value.trim() {
            "TCP_CA_Open" => Some(0),
            "TCP_CA_Recovery" => Some(3),
            "TCP_CA_Loss" => Some(4),
            "TCP_INFINITE_SSTHRESH" => Some(0x7fff_ffff),
            number => number.parse().ok(),
        };
        match value {
            Some(value) => known.push((name.trim().trim_start_matches("tcpi_").to_owned(), value)),
            None => others += 1,
        }
    }
    Ok(What::Assert(known, others))
}
