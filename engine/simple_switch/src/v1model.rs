//! The positions of v1model's standard metadata in a program, resolved once when the switch is created.
//!
//! p4c puts all of it into `standard_metadata`; field aliases map BMv2's older names to it.

use bm::{DeparserId, Field, Kept, ParserId, PipelineId, Program};

use crate::config::ConfigError;

/// BMv2's values of `standard_metadata.instance_type`.
pub(crate) mod instance_type {
    pub(crate) const NORMAL: u64 = 0;
    pub(crate) const INGRESS_CLONE: u64 = 1;
    pub(crate) const EGRESS_CLONE: u64 = 2;
    pub(crate) const RECIRC: u64 = 4;
    pub(crate) const REPLICATION: u64 = 5;
    pub(crate) const RESUBMIT: u64 = 6;
    /// The engine's own value: a run caused by a queue's timer.
    pub(crate) const TIMER: u64 = 7;
}

/// The queueing fields; a program has all of them or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueingFields {
    pub(crate) enq_timestamp: Field,
    pub(crate) enq_qdepth: Field,
    pub(crate) deq_timedelta: Field,
    pub(crate) deq_qdepth: Field,
    pub(crate) qid: Option<Field>,
}

impl QueueingFields {
    fn of(program: &Program) -> Option<Self> {
        let field = |name: &str| program.field("queueing_metadata", name);
        Some(Self {
            enq_timestamp: field("enq_timestamp")?,
            enq_qdepth: field("enq_qdepth")?,
            deq_timedelta: field("deq_timedelta")?,
            deq_qdepth: field("deq_qdepth")?,
            qid: field("qid"),
        })
    }
}

/// Stages and fields of a v1model program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct V1Model {
    pub(crate) parser: ParserId,
    pub(crate) ingress: PipelineId,
    pub(crate) egress: PipelineId,
    pub(crate) deparser: DeparserId,
    pub(crate) ingress_port: Field,
    pub(crate) packet_length: Field,
    pub(crate) instance_type: Field,
    pub(crate) egress_spec: Field,
    pub(crate) egress_port: Field,
    pub(crate) parser_error: Option<Field>,
    pub(crate) checksum_error: Option<Field>,
    pub(crate) mcast_grp: Option<Field>,
    pub(crate) egress_rid: Option<Field>,
    pub(crate) priority: Option<Field>,
    pub(crate) ingress_global_timestamp: Option<Field>,
    pub(crate) egress_global_timestamp: Option<Field>,
    pub(crate) queueing: Option<QueueingFields>,
    /// Whether a checksum covers the payload.
    pub(crate) reads_payloads: bool,
}

impl V1Model {
    /// Resolves `program`. Returns an error that names what simple_switch requires and the program lacks.
    pub(crate) fn of(program: &Program) -> Result<Self, ConfigError> {
        let missing = |what: &str| {
            let next = "compile it for v1model with p4c-bm2-ss";
            ConfigError(format!("program: has no {what}, which simple_switch requires; {next}"))
        };
        let optional = |header: &str, name: &str| program.field(header, name);
        let standard =
            |name: &str| optional("standard_metadata", name).ok_or_else(|| missing(&format!("field {name}")));
        Ok(Self {
            parser: program.parser("parser").ok_or_else(|| missing("parser"))?,
            ingress: program.pipeline("ingress").ok_or_else(|| missing("pipeline ingress"))?,
            egress: program.pipeline("egress").ok_or_else(|| missing("pipeline egress"))?,
            deparser: program.deparser("deparser").ok_or_else(|| missing("deparser"))?,
            ingress_port: standard("ingress_port")?,
            packet_length: standard("packet_length")?,
            instance_type: standard("instance_type")?,
            egress_spec: standard("egress_spec")?,
            egress_port: standard("egress_port")?,
            parser_error: optional("standard_metadata", "parser_error"),
            checksum_error: optional("standard_metadata", "checksum_error"),
            mcast_grp: optional("intrinsic_metadata", "mcast_grp"),
            egress_rid: optional("intrinsic_metadata", "egress_rid"),
            priority: optional("intrinsic_metadata", "priority"),
            ingress_global_timestamp: optional("intrinsic_metadata", "ingress_global_timestamp"),
            egress_global_timestamp: optional("intrinsic_metadata", "egress_global_timestamp"),
            queueing: QueueingFields::of(program),
            reads_payloads: program.reads_payloads(),
        })
    }

    /// Returns what egress and all later steps may read of a queued packet. The fields that the switch itself reads and
    /// sets must be the same as in `Switch::egress`.
    pub(crate) fn kept_while_queued(&self, program: &Program) -> Kept {
        let mut read = vec![self.egress_spec];
        let mut written = vec![self.egress_port, self.packet_length];
        written.extend(self.egress_global_timestamp);
        if let Some(fields) = &self.queueing {
            read.push(fields.enq_timestamp);
            written.extend([fields.deq_timedelta, fields.deq_qdepth]);
            written.extend(fields.qid);
        }
        program.kept_ahead_of(self.egress, self.deparser, &read, &written)
    }
}
