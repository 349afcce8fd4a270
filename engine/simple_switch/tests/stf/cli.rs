//! Commands of `simple_switch_CLI` in addition to those in p4c's STF, and the checks of `tests/constructs`.

use bm::{CounterValue, CrcParameters, MatchKeyParam, MatchType, MeterRate, TableInfo};

use crate::journey;

use super::run::{failed, find_action, find_table, match_key, only, value_bytes, Bench, Stop};

const NS_PER_MS: u64 = 1_000_000;

/// Key, what follows `=>`, and the priority, which tables with ternary or range fields have at the end.
type Entry<'a> = (Vec<MatchKeyParam>, Vec<&'a str>, u32);

fn entry<'a>(table: &TableInfo, words: &[&'a str]) -> Result<Entry<'a>, Stop> {
    let Some(arrow) = words.iter().position(|word| *word == "=>") else {
        return failed("table_add without =>");
    };
    let key = table.key.iter().zip(&words[..arrow]).map(|(key, text)| match_key(key.match_type, text));
    let mut rest = words[arrow + 1..].to_vec();
    let mut priority = 0;
    if matches!(table.match_type, MatchType::Ternary | MatchType::Range) {
        match rest.pop() {
            Some(last) => priority = last.parse()?,
            None => return failed(format!("{} needs a priority", table.name)),
        }
    }
    Ok((key.collect::<Result<_, _>>()?, rest, priority))
}

fn crc<T: TryFrom<u32>>(numbers: [&str; 3], reflects: [&str; 2]) -> Result<CrcParameters<T>, Stop> {
    let number = |text: &str| {
        let number = u32::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16)?;
        T::try_from(number).or_else(|_| failed(format!("number {text} is too large for this CRC")))
    };
    Ok(CrcParameters {
        polynomial: number(numbers[0])?,
        initial_remainder: number(numbers[1])?,
        final_xor: number(numbers[2])?,
        reflect_data: reflects[0].parse()?,
        reflect_remainder: reflects[1].parse()?,
    })
}

fn data(words: &[&str]) -> Result<Vec<Vec<u8>>, Stop> {
    words.iter().map(|word| value_bytes(word)).collect()
}

fn rates(words: &[&str]) -> Result<Vec<MeterRate>, Stop> {
    let rate = |word: &&str| match word.split_once(':') {
        Some((rate, burst)) => Ok(MeterRate { info_rate: rate.parse()?, burst_size: burst.parse()? }),
        None => failed(format!("rate {word}: has no burst")),
    };
    words.iter().map(rate).collect()
}

impl Bench {
    /// One command.
    pub fn cli(&mut self, words: &[&str]) -> Result<(), Stop> {
        let program = std::sync::Arc::clone(&self.program);
        let mut state = self.switch.state_mut();
        let profile = |name| only(program.action_profiles().iter(), name, |p| &p.name, "action profile");
        match words {
            ["table_add", table, action, rest @ ..] => {
                let table = find_table(&program, table)?;
                let (key, values, priority) = entry(table, rest)?;
                let action = find_action(&program, table, action)?;
                state.mt_add_entry(&table.name, &key, &action.name, &data(&values)?, priority)?;
            }
            ["table_set_default", table, action, values @ ..] => {
                let table = find_table(&program, table)?;
                let action = find_action(&program, table, action)?;
                state.mt_set_default_action(&table.name, &action.name, &data(values)?)?;
            }
            ["table_set_timeout", table, handle, milliseconds] => {
                let ttl_ns = milliseconds.parse::<u64>()? * NS_PER_MS;
                let table = &find_table(&program, table)?.name;
                state.mt_set_entry_ttl(table, handle.parse()?, ttl_ns, self.now.as_ps())?;
            }
            ["table_delete", table, handle] => {
                state.mt_delete_entry(&find_table(&program, table)?.name, handle.parse()?)?;
            }
            ["table_indirect_add", table, rest @ ..] => {
                let table = find_table(&program, table)?;
                let (key, values, priority) = entry(table, rest)?;
                state.mt_indirect_add_entry(&table.name, &key, values.concat().parse()?, priority)?;
            }
            ["table_indirect_add_with_group", table, rest @ ..] => {
                let table = find_table(&program, table)?;
                let (key, values, priority) = entry(table, rest)?;
                state.mt_indirect_ws_add_entry(&table.name, &key, values.concat().parse()?, priority)?;
            }
            ["table_indirect_set_default", table, member] => {
                state.mt_indirect_set_default_member(&find_table(&program, table)?.name, member.parse()?)?;
            }
            ["act_prof_create_member", name, action, values @ ..] => {
                let actions = program.actions().iter();
                let action = actions.filter(|a| a.name.ends_with(action)).map(|a| &a.name).next();
                let action = action.map_or("", String::as_str);
                state.mt_act_prof_add_member(&profile(name)?.name, action, &data(values)?)?;
            }
            ["act_prof_create_group", name] => {
                state.mt_act_prof_create_group(&profile(name)?.name)?;
            }
            ["act_prof_add_member_to_group", name, member, group] => {
                let name = &profile(name)?.name;
                state.mt_act_prof_add_member_to_group(name, member.parse()?, group.parse()?, None)?;
            }
            ["set_crc16_parameters", name, polynomial, initial, xor, data, remainder] => {
                let crc = crc::<u16>([polynomial, initial, xor], [data, remainder])?;
                state.set_crc16_custom_parameters(name, crc)?;
            }
            ["set_crc32_parameters", name, polynomial, initial, xor, data, remainder] => {
                let crc = crc::<u32>([polynomial, initial, xor], [data, remainder])?;
                state.set_crc32_custom_parameters(name, crc)?;
            }
            ["pvs_add", name, value] => state.parse_vset_add(name, &value_bytes(value)?)?,
            ["pvs_remove", name, value] => state.parse_vset_remove(name, &value_bytes(value)?)?,
            ["pvs_clear", name] => state.parse_vset_clear(name)?,
            ["meter_set_rates", name, index, given @ ..] => {
                let meter = only(program.meter_arrays().iter(), name, |m| &m.name, "meter")?;
                match &meter.direct_table {
                    Some(table) => state.mt_set_meter_rates(table, Some(index.parse()?), &rates(given)?)?,
                    None => state.meter_set_rates(&meter.name, index.parse()?, &rates(given)?)?,
                }
            }
            ["meter_array_set_rates", name, given @ ..] => {
                let meter = only(program.meter_arrays().iter(), name, |m| &m.name, "meter")?;
                state.meter_array_set_rates(&meter.name, &rates(given)?)?;
            }
            ["check", "register", name, index, expected] => {
                let register = only(program.register_arrays().iter(), name, |r| &r.name, "register")?;
                let cell = state.register_read(&register.name, index.parse()?)?;
                let value = cell.iter().fold(0u128, |value, byte| value << 8 | u128::from(*byte));
                if value != expected.parse::<u128>()? {
                    return failed(format!("register {name}[{index}] is {value}, expected {expected}"));
                }
            }
            ["check", "counter", name, index, bytes, packets] => {
                let counter = only(program.counter_arrays().iter(), name, |c| &c.name, "counter")?;
                let value = match &counter.direct_table {
                    Some(table) => state.mt_read_counters(table, Some(index.parse()?))?,
                    None => state.read_counters(&counter.name, index.parse()?)?,
                };
                if value != (CounterValue { bytes: bytes.parse()?, packets: packets.parse()? }) {
                    return failed(format!("counter {name}[{index}] is {value:?}"));
                }
            }
            ["check", "swept", table, handles @ ..] => {
                let told = state.mt_sweep_entries(&find_table(&program, table)?.name, self.now.as_ps())?;
                if told.iter().map(u64::to_string).collect::<Vec<_>>() != *handles {
                    return failed(format!("a sweep of {table} tells of {told:?}, expected {handles:?}"));
                }
            }
            ["follow"] => {
                drop(state);
                self.switch.follow(0);
            }
            ["check", "journey", steps @ ..] => {
                drop(state);
                let journey = journey::words(&self.switch.take_journey());
                let told: Vec<_> = journey.iter().map(|(packet, word)| format!("{packet} {word}")).collect();
                if told.join(" | ") != steps.join(" ") {
                    return failed(format!("the journey is {}", told.join(" | ")));
                }
            }
            ["check", "log", text @ ..] => {
                drop(state);
                let text = text.join(" ");
                self.log.extend(std::iter::from_fn(|| self.switch.poll_log()));
                if !self.log.iter().any(|line| line.ends_with(&text)) {
                    return failed(format!("no line of the log ends with '{text}': {:?}", self.log));
                }
            }
            _ => return Err(Stop::Unsupported(format!("the command '{}'", words.join(" ")))),
        }
        Ok(())
    }
}
