"""What a program declares, by its P4Info and BMv2 JSON: what messages are checked against."""
