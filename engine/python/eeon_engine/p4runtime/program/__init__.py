"""A program's declarations, from its P4Info and BMv2 JSON, against which messages are checked."""
