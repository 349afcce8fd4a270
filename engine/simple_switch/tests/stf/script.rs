//! STF, as p4c's `tools/stf` reads it: one statement a line.

/// A number as it is written: bmv2stf.py takes the meaning of the digits from the kind of key.
pub type Number = String;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCall {
    pub action: String,
    /// Parameters by name.
    pub arguments: Vec<(String, Number)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Packet {
        port: u16,
        bytes: Vec<u8>,
    },
    Expect {
        port: u16,
        /// `None`: whatever it contains.
        pattern: Option<Pattern>,
    },
    Add {
        table: String,
        priority: Option<u32>,
        /// Values by name of the key.
        key: Vec<(String, Number)>,
        call: ActionCall,
        /// `= A`: how `check_counter` names the entry.
        label: Option<String>,
    },
    SetDefault {
        table: String,
        call: ActionCall,
    },
    CheckCounter {
        counter: String,
        /// A number, or `$` and a label.
        at: String,
        /// "packets" or "bytes", the comparison, the number. Nothing to check without.
        condition: Option<(String, String, u64)>,
    },
    /// A command of `simple_switch_CLI`, with its words.
    Command(Vec<String>),
    Wait,
}

/// What an expected packet looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// `None` for `*`.
    pub nibbles: Vec<Option<u8>>,
    /// `$`: nothing may follow.
    pub is_whole: bool,
}

impl Pattern {
    /// The first difference in words.
    pub fn difference(&self, frame: &[u8]) -> Option<String> {
        let got: Vec<u8> = frame.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
        let (want, have) = (self.nibbles.len(), got.len());
        if have < want {
            return Some(format!("is {have} digits long, expected {want}"));
        }
        if self.is_whole && have > want {
            return Some(format!("is {have} digits long, expected exactly {want}"));
        }
        let at =
            self.nibbles.iter().zip(&got).position(|(want, got)| want.is_some_and(|want| want != *got))?;
        let want = self.nibbles[at].expect("only a digit differs");
        Some(format!("digit {at} is {:X}, expected {want:X}", got[at]))
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for nibble in &self.nibbles {
            match nibble {
                Some(digit) => write!(f, "{digit:X}")?,
                None => write!(f, "*")?,
            }
        }
        write!(f, "{}", if self.is_whole { "$" } else { "" })
    }
}

/// Reads a script; an error names the line.
pub fn parse(text: &str) -> Result<Vec<Statement>, String> {
    let mut statements = Vec::new();
    for (line, at) in text.lines().zip(1..) {
        let line = &line[..unquoted(line, |c| c == '#').next().unwrap_or(line.len())];
        let line = line.trim();
        if !line.is_empty() {
            let statement = parse_line(line).ok_or_else(|| format!("line {at} is not STF: {line}"))?;
            statements.push(statement);
        }
    }
    Ok(statements)
}

fn parse_line(line: &str) -> Option<Statement> {
    let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match keyword.to_lowercase().as_str() {
        "packet" => {
            let (port, data) = rest.split_once(char::is_whitespace)?;
            Some(Statement::Packet { port: port.parse().ok()?, bytes: bytes(data)? })
        }
        "expect" => {
            let (port, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let pattern = if data.is_empty() { None } else { Some(pattern(data)?) };
            Some(Statement::Expect { port: port.parse().ok()?, pattern })
        }
        "add" => add(rest),
        "setdefault" => {
            let (table, call) = rest.split_at(unquoted(rest, char::is_whitespace).next()?);
            Some(Statement::SetDefault { table: name(table), call: action_call(call)? })
        }
        "check_counter" => check_counter(rest),
        "wait" => Some(Statement::Wait),
        _ => Some(Statement::Command(line.split_whitespace().map(str::to_owned).collect())),
    }
}

fn bytes(data: &str) -> Option<Vec<u8>> {
    let nibbles = pattern(data)?;
    let digits = nibbles.nibbles.into_iter().collect::<Option<Vec<u8>>>()?;
    let is_bytes = digits.len() % 2 == 0 && !nibbles.is_whole;
    is_bytes.then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn pattern(data: &str) -> Option<Pattern> {
    let digits: String = data.split_whitespace().collect();
    let (digits, is_whole) = match digits.strip_suffix('$') {
        Some(digits) => (digits, true),
        None => (digits.as_str(), false),
    };
    let nibble = |digit: char| match digit {
        '*' => Some(None),
        _ => digit.to_digit(16).map(|value| Some(value as u8)),
    };
    Some(Pattern { nibbles: digits.chars().map(nibble).collect::<Option<_>>()?, is_whole })
}

fn add(rest: &str) -> Option<Statement> {
    let (before, label) = match unquoted(rest, |c| c == '=').last() {
        Some(at) => (&rest[..at], Some(rest[at + 1..].trim().to_owned())),
        None => (rest, None),
    };
    let (head, arguments) = before.split_at(unquoted(before, |c| c == '(').next()?);
    let mut words = pieces(head, char::is_whitespace);
    let action = words.pop()?;
    let mut words = words.into_iter().peekable();
    let table = name(words.next()?);
    let is_key = |word: &&str| unquoted(word, |c| c == ':').next().is_some();
    let priority = words.next_if(|word| !is_key(word)).map(str::parse).transpose().ok()?;
    let key = words.map(named_number).collect::<Option<_>>()?;
    Some(Statement::Add { table, priority, key, call: action_call(&format!("{action}{arguments}"))?, label })
}

fn action_call(text: &str) -> Option<ActionCall> {
    let text = text.trim().strip_suffix(')')?;
    let (action, arguments) = text.split_at(unquoted(text, |c| c == '(').next()?);
    Some(ActionCall {
        action: name(action),
        arguments: pieces(&arguments[1..], |c| c == ',')
            .into_iter()
            .map(named_number)
            .collect::<Option<_>>()?,
    })
}

fn named_number(text: &str) -> Option<(String, Number)> {
    let at = unquoted(text, |c| c == ':').last()?;
    Some((name(&text[..at]), text[at + 1..].trim().to_owned()))
}

/// Names may be quoted, and have blanks and punctuation then.
fn name(text: &str) -> String {
    text.trim().replace('"', "")
}

/// Where such characters stand outside of quotes.
fn unquoted(text: &str, is: impl Fn(char) -> bool) -> std::vec::IntoIter<usize> {
    let mut is_quoted = false;
    let positions: Vec<usize> = text
        .char_indices()
        .filter(|(_, c)| {
            is_quoted ^= *c == '"';
            !is_quoted && is(*c)
        })
        .map(|(at, _)| at)
        .collect();
    positions.into_iter()
}

/// What lies between such characters outside of quotes, without what is blank.
fn pieces(text: &str, is: impl Fn(char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for at in unquoted(text, &is).chain([text.len()]) {
        // A separator that was found is one byte or the first of several.
        let piece = text[from..at].trim_start_matches(&is).trim();
        if !piece.is_empty() {
            pieces.push(piece);
        }
        from = at;
    }
    pieces
}

fn check_counter(rest: &str) -> Option<Statement> {
    let (head, condition) = rest.split_once(')')?;
    let (counter, at) = head.split_once('(')?;
    let condition = match condition.split_whitespace().collect::<Vec<_>>()[..] {
        [] => None,
        [count, comparison, number] => Some((count.to_owned(), comparison.to_owned(), number.parse().ok()?)),
        _ => return None,
    };
    Some(Statement::CheckCounter { counter: name(counter), at: at.to_owned(), condition })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(data: &str) -> Pattern {
        pattern(data).unwrap()
    }

    #[test]
    fn a_counter_is_compared_only_with_a_condition() {
        let check =
            |condition| Statement::CheckCounter { counter: "cnt".to_owned(), at: "$A".to_owned(), condition };
        let condition = ("bytes".to_owned(), "==".to_owned(), 12);
        let both = vec![check(None), check(Some(condition))];
        assert_eq!(parse("check_counter cnt($A)\ncheck_counter cnt($A) bytes == 12"), Ok(both));
    }

    #[test]
    fn a_longer_packet_matches_unless_the_pattern_ends_with_a_dollar() {
        assert_eq!(expected("01**").difference(&[0x01, 0x23, 0x45]), None);
        let difference = expected("01**$").difference(&[0x01, 0x23, 0x45]);
        assert_eq!(difference.unwrap(), "is 6 digits long, expected exactly 4");
    }

    #[test]
    fn a_shorter_packet_and_another_digit_differ() {
        assert_eq!(expected("012*").difference(&[0x01]).unwrap(), "is 2 digits long, expected 4");
        assert_eq!(expected("012*").difference(&[0x01, 0x34]).unwrap(), "digit 2 is 3, expected 2");
    }
}
