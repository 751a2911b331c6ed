"""Every container of a live node, and the row of a table of limits that bounds it.

`test_limits.py` finds the containers in the code, so that a new one without a limit fails there.
"""

OPERATING, SECURITY, MQTT = "operating.md", "live-security.md", "mqtt.md"
# No traffic lets it grow: one entry for each node, part or reason that a process has.
FIXED = "as many as the process has"
# It exists in a test bed alone, and belongs to no node that operators run.
BED = "a test bed"

# Module and class -> attribute -> (page, first words of the row), or FIXED, or BED.
Bound = tuple[str, str] | str
BOUNDS: dict[str, dict[str, Bound]] = {
    "air/air:Air": {"links": BED, "nodes": BED},
    "air/air_host:AirHost": {"_groups": BED, "_journals": BED, "_replaced": BED, "nodes": BED},
    "air/air_keys:AirKeys": {"_certificates": BED, "_identities": BED, "_revoked": BED},
    "air/frame_queue:FrameQueue": {"_by_pair": BED, "_heap": BED, "_jitter": BED},
    "control/route_answers:_Answers": {"_queue": (OPERATING, "answers that wait")},
    "control/server:ControlServer": {"_connections": (OPERATING, "control socket")},
    "drops:Drops": {"_count": FIXED},
    "dropping_queue:DroppingQueue": {
        "_items": (OPERATING, "events that wait for a command"),
    },
    "events/bodies:BodyTable": {
        "_bodies": (OPERATING, "bodies kept"), "_order": (OPERATING, "bodies kept"),
    },
    "events/bodies:SharedBodies": {"_keys": (OPERATING, "bodies kept")},
    "events/delivered_values:DeliveredValues": {
        "_newest": (OPERATING, "publications remembered"),
    },
    "events/event_shares:EventShares": {
        "_latest": (OPERATING, "limits of publishers"),
        "_limits": (OPERATING, "limits of publishers"),
        "_refused": (OPERATING, "limits of publishers"),
    },
    "events/event_shares:Publishers": {
        "_candidates": (OPERATING, "limits of publishers"),
        "_known": (OPERATING, "limits of publishers"),
    },
    "events/event_shares:_Limit": {
        "_arrived": (OPERATING, "limits of publishers"),
        "_level": (OPERATING, "limits of publishers"),
    },
    "events/new_publishers:NewPublishers": {
        "_levels": (OPERATING, "new publishers"),
        "_names": (OPERATING, "new publishers"),
    },
    "events/retained:RetainedTable": {"_values": (OPERATING, "retained values")},
    "events/local_subscriptions:Subscriptions": {
        "_local": (OPERATING, "subscriptions of a node"),
        "_pinned": (OPERATING, "subscriptions of a node"),
        "_subscribed": (OPERATING, "topics with a number"),
        "_texts": (OPERATING, "texts of topics"),
    },
    "events/topic_numbers:TopicTable": {
        "_number": (OPERATING, "topics with a number"),
        "_pins": (OPERATING, "subscriptions of a node"),
    },
    "interface/benchmark:_Arrivals": {"_seen": BED},
    "interface/service:Service": {"addresses": FIXED},
    "journal/commit:GroupCommit": {"_futures": (OPERATING, "journal: segments")},
    "journal/journal:Journal": {
        "_pending": (OPERATING, "journal: segments"),
        "_sizes": (OPERATING, "journal: segments"),
        "problems": (OPERATING, "journal: segments"),  # one a damaged record
    },
    "kept/kept_store:KeptStore": {
        "_kept": (OPERATING, "own kept events"),
        "_last": (OPERATING, "topics with own kept"),
        "_positions": (OPERATING, "streams of others"),
        "_undelivered": (OPERATING, "own kept events"),
    },
    "kept/stream_position:StreamPosition": {"ahead": (OPERATING, "streams of others")},
    "journal/node_journal:NodeJournal": {
        "_parts": FIXED, "_records": (OPERATING, "journal: segments"),
    },
    "kept/publisher:KeptPublisher": {
        "_acked": (OPERATING, "readers of a stream"),
        "_asked_for_gone": (OPERATING, "topics with own kept"),
        "_begun": (OPERATING, "topics with own kept"),
        "_texts": (OPERATING, "topics with own kept"),
    },
    "kept/kept_reader:KeptReader": {
        "_asked": (OPERATING, "streams of others"),
        "_beats": (OPERATING, "streams of others"),
        "_due": (OPERATING, "streams of others"),
        "_gaps": (OPERATING, "streams of others"),
        "_waiting": (OPERATING, "streams of others"),
    },
    "keys/handshakes:Handshakes": {
        "_answering": (SECURITY, "handshakes under way"),
        "_opening": (SECURITY, "handshakes under way"),
        "_pending": (SECURITY, "datagrams that wait"),
    },
    "keys/keyed_security:KeyedSecurity": {
        "_asked": (SECURITY, "sessions"), "_by_number": (SECURITY, "sessions"),
        "_peers": (SECURITY, "sessions"), "_versions": (SECURITY, "sessions"),
    },
    "keys/network_membership:Membership": {
        "_bytes": (OPERATING, "certificates of nodes"),
        "_known": (OPERATING, "certificates of nodes"),
    },
    "keys/strangers:SourceLimit": {"_buckets": (SECURITY, "sources of handshakes")},
    "link/endpoint:Endpoint": {"_queue": (OPERATING, "datagrams that wait")},
    "link/neighbour_queues:NeighbourQueues": {
        "_queues": (OPERATING, "neighbours; nodes heard"),
        "_turns": (OPERATING, "neighbours; nodes heard"),
    },
    "link/neighbour_queues:_Queue": {"datagrams": (OPERATING, "received datagrams that wait")},
    "link/links:Links": {
        "_address": (OPERATING, "neighbours; nodes heard"),
        "_joiners": (OPERATING, "parts of a frame"),
        "_met": (OPERATING, "neighbours; nodes heard"),
        "pongs": (OPERATING, "control socket"),  # a command waits for one answer at a time
        "refusals": (OPERATING, "kinds of refusals"),
    },
    "link/neighbour_table:HelloTable": {
        "_heard": (OPERATING, "neighbours; nodes heard"),
        "_links": (OPERATING, "neighbours; nodes heard"),
        "_lists": (OPERATING, "neighbours; nodes heard"),
    },
    "link/waiting:WaitingFrames": {"_frames": (OPERATING, "frames that wait")},
    "members:Members": {
        "_followers": (OPERATING, "members that a node"), "changes": FIXED,
        "_names": (OPERATING, "members that a node"), "_since": (OPERATING, "members that a node"),
    },
    "mqtt/memory_mesh:MemoryNetwork": {"_nodes": BED, "_retained": BED},
    "mqtt/packets/stream:PacketStream": {"_bytes": (MQTT, "`packet_bytes`")},
    "mqtt/mqtt_door:MqttDoor": {
        "_clients": (MQTT, "`connections`"), "_servers": FIXED,
        "_tasks": (MQTT, "`publications`"), "_waiting": (MQTT, "`publications`"),
    },
    "mqtt/sessions/connection:Connection": {
        "_given_aliases": (MQTT, "`topic_aliases`"), "_output": (MQTT, "`packet_bytes`"),
        "aliases": (MQTT, "`topic_aliases`"), "events": (MQTT, "`packet_bytes`"),
        "publishing": (MQTT, "`receive_maximum`"),
    },
    "mqtt/sessions/mqtt_machine:Machine": {"_admissions": (MQTT, "`connections`")},
    "mqtt/sessions/stored_sessions:StoredSessions": {
        "messages": (MQTT, "`queued_messages`"), "sessions": (MQTT, "`sessions`"),
        "taken": (MQTT, "`sessions`"),
    },
    "mqtt/sessions/outgoing:Outgoing": {
        "_acknowledged": (MQTT, "`queued_messages`"), "_again": (MQTT, "`window`"),
        "_best_effort": (MQTT, "`queued_messages`"), "_exchanges": (MQTT, "`window`"),
        "_retained": (MQTT, "`retained_messages`"), "_unanswered": (MQTT, "`window`"),
    },
    "mqtt/sessions/client_session:ClientSession": {
        "grants": (MQTT, "`subscriptions`"), "receiving": (MQTT, "`receive_maximum`"),
    },
    "mqtt/sessions/shares:Shares": {
        "_members": (MQTT, "`subscriptions`"), "_others": (MQTT, "shared subscriptions"),
        "_turns": (MQTT, "`subscriptions`"),
    },
    "mqtt/sessions/door_subscriptions:DoorSubscriptions": {
        "_at_mesh": (OPERATING, "subscriptions of a node"),
        "_recent": (MQTT, "`recent_events`"),
        "_uses": (OPERATING, "subscriptions of a node"),
    },
    "mqtt/sessions/session_table:Table": {
        "changed": (MQTT, "`connections`"), "drops": FIXED, "online": (MQTT, "`connections`"),
        "outbox": (MQTT, "`sessions`"),  # a turn empties it: at most a will of each session
        "sessions": (MQTT, "`sessions`"),
    },
    "mqtt/sessions/keyed_timers:KeyedTimers": {
        "_at": (MQTT, "`sessions`"), "_heap": (MQTT, "`sessions`"),
    },
    "plain:Plain": {"_peers": (OPERATING, "peers without keys")},
    "runtime/local_delivery:Delivery": {
        "_order": (OPERATING, "publications remembered"),
        "_seen": (OPERATING, "publications remembered"),
    },
    "runtime/retained_exchange:RetainedExchange": {"_sent": (OPERATING, "neighbours; nodes heard")},
    "runtime/body_exchange:BodyExchange": {"_held": (OPERATING, "records that wait for a body")},
    "runtime/host:Host": {
        "_sockets": FIXED, "journals": FIXED, "nodes": FIXED, "sections": FIXED,
    },
    "runtime/mesh_node:MeshNode": {"counts": FIXED},
    "runtime/own_events:OwnEvents": {
        "_before": FIXED, "_ready": (OPERATING, "topics with a number"),
    },
    "runtime/probe_routes:Routes": {
        "_asked": (OPERATING, "probes and searches"),
        "_tracked": (OPERATING, "probes and searches"),
    },
    "step/datagram_flow:Flow": {"place_of": (OPERATING, "neighbours; nodes heard")},
    "step/scheduler:Scheduler": {"_after": FIXED},
    "step/timers:Timers": {"_heap": (OPERATING, "records and timers")},
    "systems/face:BoundedFace": {
        "_subscribed": (OPERATING, "topics to which a node of a broker tree"),
    },
    "systems/face:Face": {"values": FIXED},
    "systems/georendezvous:GeorendezvousFace": {
        "_advertised": (OPERATING, "topics on which a node of `georendezvous`"),
    },
    "topic_filters:FilterTree": {"_found": (OPERATING, "topics whose filters")},
    "topic_filters:_Branch": {
        "below": (OPERATING, "subscriptions of a node"),
        "entries": (OPERATING, "subscriptions of a node"),
    },
    "trace/folder:NodeTrace": {
        "_drops": FIXED, "_parts": (OPERATING, "rows of a trace"),
        "_records": (OPERATING, "rows of a trace"),
        "_stamps": (OPERATING, "rows of a trace"), "_what": (OPERATING, "rows of a trace"),
    },
    "trace/folder:TraceFolder": {
        "_files": (OPERATING, "files of a trace"), "_traces": FIXED,
        "_writes": (OPERATING, "rows of a trace"),
    },
    "trace/live_replay:_Made": {"_head": FIXED},
    "wire/datagram_fragments:Joiner": {"_waiting": (OPERATING, "parts of a frame")},
}  # fmt: skip
