"""What the cases use of ptf, which has no types. For mypy alone."""

from .dataplane import DataPlane

dataplane_instance: DataPlane
