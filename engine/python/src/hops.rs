//! The stream of hops for Python: a filter as JSON, events as flat columns.

use std::net::IpAddr;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Deserialize;
use simple_switch::hops::{
    Cause, Depth, FlowFilter, Hop, HopEvent, HopFilter, HopKind, HopLog, Waiting, NONE,
};
use simple_switch::DropCause;
use units::Time;

use crate::error::Error;

/// The filter's JSON; `eeon_engine.hops` documents it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    kinds: Option<Vec<String>>,
    ports: Vec<(String, u16)>,
    from_ps: u64,
    until_ps: Option<u64>,
    flow: AskedFlow,
    limit: Option<usize>,
    snap_bytes: u16,
    fields: Vec<String>,
    port_field: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AskedFlow {
    source: Option<IpAddr>,
    destination: Option<IpAddr>,
    protocol: Option<u8>,
    source_port: Option<u16>,
    destination_port: Option<u16>,
}

/// Parses a filter; `nodes` are the names of the nodes that have ports.
pub(crate) fn filter(json: &str, nodes: &[&str]) -> Result<HopFilter, Error> {
    let asked: Asked = serde_json::from_str(json).map_err(|error| Error::Config(format!("hops: {error}")))?;
    let mut filter = HopFilter::default();
    if let Some(kinds) = asked.kinds {
        let kind = |name: &String| {
            HopKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
                let known: Vec<_> = HopKind::ALL.iter().map(|kind| kind.name()).collect();
                Error::Config(format!("hops: kinds: '{name}' is not one of {}", known.join(", ")))
            })
        };
        filter.kinds = kinds.iter().map(kind).collect::<Result<_, _>>()?;
    }
    let port = |(name, port): &(String, u16)| {
        let node = nodes.iter().position(|node| node == name);
        let node = node.ok_or_else(|| Error::Config(format!("hops: ports: unknown node '{name}'")))?;
        Ok::<_, Error>((node as u16, *port))
    };
    filter.ports = asked.ports.iter().map(port).collect::<Result<_, _>>()?;
    filter.from = Time::from_ps(asked.from_ps);
    filter.until = asked.until_ps.map_or(Time::MAX, Time::from_ps);
    let AskedFlow { source, destination, protocol, source_port, destination_port } = asked.flow;
    filter.flow = FlowFilter { source, destination, protocol, source_port, destination_port };
    filter.limit = asked.limit.unwrap_or(filter.limit);
    filter.snap_bytes = asked.snap_bytes;
    if let Some(name) = asked.port_field {
        let place = asked.fields.iter().position(|field| *field == name);
        let missing = || Error::Config(format!("hops: port_field: '{name}' is not one of the fields"));
        filter.port_field = Some(place.ok_or_else(missing)?);
    }
    let field = |name: &String| match name.split_once('.') {
        Some((header, field)) => Ok((header.to_owned(), field.to_owned())),
        None => Err(Error::Config(format!("hops: fields: '{name}' is not header.field"))),
    };
    filter.fields = asked.fields.iter().map(field).collect::<Result<_, _>>()?;
    Ok(filter)
}

/// An event's values in the columns that not every kind of event fills; zero, or [`NONE`], if its kind has none.
#[derive(Clone, Copy, Default)]
struct Row {
    until_ps: u64,
    queue_bytes: u64,
    queue_packets: u32,
    bytes: u32,
    values: u32,
    frame_at: u32,
    frame_len: u16,
    priority: u8,
    cause: u8,
}

impl Row {
    fn of(hop: &Hop) -> Row {
        let nothing = Row { values: NONE, ..Row::default() };
        let queue = |bytes, Depth { bytes: queue_bytes, packets: queue_packets }| Row {
            bytes,
            queue_bytes,
            queue_packets,
            ..nothing
        };
        let waits =
            |waiting: Waiting| Row { priority: waiting.priority, ..queue(waiting.bytes, waiting.depth) };
        match *hop {
            Hop::Offered { bytes } | Hop::Arrived { bytes } | Hop::Delivered { bytes } => {
                Row { bytes, ..nothing }
            }
            Hop::Judged { bytes, values } => Row { bytes, values, ..nothing },
            Hop::Copied { of } => Row { until_ps: of, ..nothing },
            Hop::Queued(waiting) => waits(waiting),
            Hop::Held { waiting, until } | Hop::Paused { waiting, until } => {
                Row { until_ps: until.as_ps(), ..waits(waiting) }
            }
            Hop::Slept { until } | Hop::Woke { until } => Row { until_ps: until.as_ps(), ..nothing },
            Hop::Recirculated { bytes, depth, until } => {
                Row { until_ps: until.as_ps(), ..queue(bytes, depth) }
            }
            Hop::Sent { bytes, depth, until, values, frame_at, frame_len } => {
                Row { until_ps: until.as_ps(), values, frame_at, frame_len, ..queue(bytes, depth) }
            }
            Hop::Dropped { bytes, depth, cause, values, frame_at, frame_len } => {
                Row { cause: cause_number(cause), values, frame_at, frame_len, ..queue(bytes, depth) }
            }
            Hop::Slowed { before, after } => {
                let before = u32::try_from(before.get()).unwrap_or(u32::MAX);
                Row { bytes: before, queue_bytes: after.get(), ..nothing }
            }
        }
    }
}

/// Returns the number of a cause in its column: an index in [`DropCause::ALL`], or a number of `_OTHER_CAUSES` in Python.
fn cause_number(cause: Cause) -> u8 {
    match cause {
        Cause::Switch(cause) => cause as u8,
        Cause::LinkDown => 0xFE,
        Cause::Nic => 0xFF,
    }
}

/// Returns a column: its values as little-endian bytes.
fn column<const N: usize>(
    py: Python<'_>,
    log: &HopLog,
    of: impl Fn(&HopEvent, &Row) -> [u8; N],
) -> PyResult<Py<PyBytes>> {
    let events = &log.events;
    let bytes = PyBytes::new_with(py, events.len() * N, |bytes| {
        for (place, event) in bytes.chunks_exact_mut(N).zip(events) {
            place.copy_from_slice(&of(event, &Row::of(&event.hop)));
        }
        Ok(())
    })?;
    Ok(bytes.unbind())
}

/// Returns the recorded events, for `eeon_engine.hops.Hops`.
pub(crate) fn columns(py: Python<'_>, log: &HopLog, nodes: &[&str]) -> PyResult<Py<PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("at_ps", column(py, log, |event, _| event.at.as_ps().to_le_bytes())?)?;
    dict.set_item("packet", column(py, log, |event, _| event.packet.to_le_bytes())?)?;
    dict.set_item("until_ps", column(py, log, |_, row| row.until_ps.to_le_bytes())?)?;
    dict.set_item("queue_bytes", column(py, log, |_, row| row.queue_bytes.to_le_bytes())?)?;
    dict.set_item("queue_packets", column(py, log, |_, row| row.queue_packets.to_le_bytes())?)?;
    dict.set_item("bytes", column(py, log, |_, row| row.bytes.to_le_bytes())?)?;
    dict.set_item("flow", column(py, log, |event, _| event.flow.to_le_bytes())?)?;
    dict.set_item("values", column(py, log, |_, row| row.values.to_le_bytes())?)?;
    dict.set_item("frame_at", column(py, log, |_, row| row.frame_at.to_le_bytes())?)?;
    dict.set_item("frame_len", column(py, log, |_, row| row.frame_len.to_le_bytes())?)?;
    dict.set_item("node", column(py, log, |event, _| event.node.to_le_bytes())?)?;
    dict.set_item("port", column(py, log, |event, _| event.port.to_le_bytes())?)?;
    dict.set_item("priority", column(py, log, |_, row| [row.priority])?)?;
    dict.set_item("kind", column(py, log, |event, _| [event.hop.kind() as u8])?)?;
    dict.set_item("cause", column(py, log, |_, row| [row.cause])?)?;
    let values: Vec<u8> = log.values.iter().flat_map(|value| value.to_le_bytes()).collect();
    dict.set_item("field_values", PyBytes::new(py, &values))?;
    dict.set_item("frames", PyBytes::new(py, &log.frames))?;
    let flows = log.flows.iter().map(|flow| {
        let (source, destination) = (flow.source.to_string(), flow.destination.to_string());
        (source, destination, flow.protocol, flow.source_port, flow.destination_port)
    });
    dict.set_item("flows", flows.collect::<Vec<_>>())?;
    let fields: Vec<_> = log.filter.fields.iter().map(|(header, name)| format!("{header}.{name}")).collect();
    dict.set_item("fields", fields)?;
    dict.set_item("nodes", nodes)?;
    dict.set_item("kinds", HopKind::ALL.map(HopKind::name))?;
    dict.set_item("causes", DropCause::ALL.map(DropCause::name))?;
    dict.set_item("lost", log.lost)?;
    dict.set_item("limit", log.filter.limit)?;
    Ok(dict.unbind())
}
