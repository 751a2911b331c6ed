"""The packets of MQTT 3.1.1 and 5.0, to bytes and back, without input or output.

Other folders use `PacketStream`. Sections are cited as `[mqtt3 §3.1]` and `[mqtt5 §3.1]`, after the
OASIS standards of 2014 and 2019.
"""
