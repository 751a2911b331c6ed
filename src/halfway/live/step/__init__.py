"""The step of a live node: records in, records out, by the machine code of its protocol."""
