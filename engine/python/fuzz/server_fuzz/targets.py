"""The targets by name."""

from . import p4runtime_bytes, p4runtime_pipeline, p4runtime_write, thrift_bytes, thrift_calls

TARGETS = {
    "p4runtime_write": p4runtime_write.run,
    "p4runtime_bytes": p4runtime_bytes.run,
    "p4runtime_pipeline": p4runtime_pipeline.run,
    "thrift_calls": thrift_calls.run,
    "thrift_bytes": thrift_bytes.run,
}
"""What runs one input; it raises an exception if a condition is violated."""
