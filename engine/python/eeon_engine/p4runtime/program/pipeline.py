"""A checked forwarding pipeline configuration: its P4Info and its BMv2 program match (P4Runtime 1.5 §14)."""

from dataclasses import dataclass
from functools import lru_cache

from google.protobuf import text_format

from ..._engine import Program
from ...exceptions import ConfigError, ProgramError
from ..errors import StatusError, invalid
from ..messages import p4i, p4r
from . import compilation, legacy
from .schema import Schema


@dataclass(frozen=True)
class Pipeline:
    """A client's pipeline in parsed form."""

    config: p4r.ForwardingPipelineConfig
    program: Program
    schema: Schema

    @classmethod
    def from_config(cls, config: p4r.ForwardingPipelineConfig) -> "Pipeline":
        """Checks a `ForwardingPipelineConfig`; raises INVALID_ARGUMENT with what cannot be realized."""
        return _checked(config.SerializeToString(deterministic=True))

    @classmethod
    def of_program(cls, program: Program, info: p4i.P4Info | str | bytes) -> "Pipeline":
        """Checks a P4Info for a program that a switch runs already; raises `ConfigError`."""
        try:
            return cls.from_config(config_from_files(program.json, info))
        except StatusError as error:
            raise ConfigError(error.message) from error


# The switches of a fabric get the same program, one after another.
@lru_cache(maxsize=1)
def _checked(serialized: bytes) -> Pipeline:
    config = p4r.ForwardingPipelineConfig.FromString(serialized)
    if not config.HasField("p4info"):
        raise invalid("the pipeline config has no P4Info")
    if not config.p4_device_config:
        raise invalid("the pipeline config has no p4_device_config; send the BMv2 JSON that p4c-bm2-ss wrote")
    device_config = legacy.unwrapped(config.p4_device_config)
    try:
        program = Program(device_config)
    except ProgramError as error:
        raise invalid(f"p4_device_config: {error}") from error
    schema = compilation.matched(config.p4info, device_config)
    return Pipeline(config, program, schema)


def config_from_files(program: bytes, info: p4i.P4Info | str | bytes) -> p4r.ForwardingPipelineConfig:
    """Returns a `ForwardingPipelineConfig` of BMv2 JSON and a P4Info, a message or its text format."""
    if isinstance(info, str | bytes):
        parsed = p4i.P4Info()
        try:
            text_format.Parse(info, parsed)
        except text_format.ParseError as error:
            raise invalid(
                f"P4Info: not in text format: {error}; p4c-bm2-ss --p4runtime-files FILE.txtpb writes it"
            ) from error
        info = parsed
    return p4r.ForwardingPipelineConfig(p4info=info, p4_device_config=program)
