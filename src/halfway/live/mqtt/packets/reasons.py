"""The reason codes of MQTT 5.0, and the corresponding return codes of MQTT 3.1.1."""

from enum import IntEnum


class Reason(IntEnum):
    """A reason code [mqtt5 §2.4]. Codes from 0x80 state a failure."""

    SUCCESS = 0x00  # also: normal disconnection, granted QoS 0
    GRANTED_QOS_1 = 0x01
    GRANTED_QOS_2 = 0x02
    DISCONNECT_WITH_WILL = 0x04
    NO_MATCHING_SUBSCRIBERS = 0x10
    NO_SUBSCRIPTION_EXISTED = 0x11
    CONTINUE_AUTHENTICATION = 0x18
    REAUTHENTICATE = 0x19
    UNSPECIFIED_ERROR = 0x80
    MALFORMED_PACKET = 0x81
    PROTOCOL_ERROR = 0x82
    IMPLEMENTATION_ERROR = 0x83
    UNSUPPORTED_VERSION = 0x84
    CLIENT_ID_NOT_VALID = 0x85
    BAD_USER_NAME_OR_PASSWORD = 0x86
    NOT_AUTHORIZED = 0x87
    SERVER_UNAVAILABLE = 0x88
    SERVER_BUSY = 0x89
    BANNED = 0x8A
    SERVER_SHUTTING_DOWN = 0x8B
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    SESSION_TAKEN_OVER = 0x8E
    TOPIC_FILTER_INVALID = 0x8F
    TOPIC_NAME_INVALID = 0x90
    PACKET_ID_IN_USE = 0x91
    PACKET_ID_NOT_FOUND = 0x92
    RECEIVE_MAXIMUM_EXCEEDED = 0x93
    TOPIC_ALIAS_INVALID = 0x94
    PACKET_TOO_LARGE = 0x95
    MESSAGE_RATE_TOO_HIGH = 0x96
    QUOTA_EXCEEDED = 0x97
    ADMINISTRATIVE_ACTION = 0x98
    PAYLOAD_FORMAT_INVALID = 0x99
    RETAIN_NOT_SUPPORTED = 0x9A
    QOS_NOT_SUPPORTED = 0x9B
    USE_ANOTHER_SERVER = 0x9C
    SERVER_MOVED = 0x9D
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E
    CONNECTION_RATE_EXCEEDED = 0x9F
    MAXIMUM_CONNECT_TIME = 0xA0
    SUBSCRIPTION_IDS_NOT_SUPPORTED = 0xA1
    WILDCARDS_NOT_SUPPORTED = 0xA2

    @property
    def failed(self) -> bool:
        """Whether the MQTT reason code states a failure."""
        return self >= 0x80


def _codes(*codes: int) -> frozenset[Reason]:
    return frozenset(Reason(code) for code in codes)


# The codes that each packet may carry [mqtt5 §3.2.2.2, §3.4.2.1, §3.6.2.1, §3.9.3, …].
CONNACK_REASONS = _codes(
    0x00, *range(0x80, 0x8B), 0x8C, 0x90, 0x95, 0x97, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9F,
)  # fmt: skip
PUBACK_REASONS = _codes(0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99)  # also of PUBREC
PUBREL_REASONS = _codes(0x00, 0x92)  # also of PUBCOMP
SUBACK_REASONS = _codes(0, 1, 2, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2)
UNSUBACK_REASONS = _codes(0x00, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91)
DISCONNECT_REASONS = _codes(
    0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8B, 0x8D, 0x8E, 0x8F, 0x90, 0x93, 0x94,
    *range(0x95, 0xA3),
)  # fmt: skip
AUTH_REASONS = _codes(0x00, 0x18, 0x19)

# The return codes of a CONNACK of 3.1.1 [mqtt3 §3.2.2.3]: the place in the list is the code.
RETURN_CODES = (
    Reason.SUCCESS,
    Reason.UNSUPPORTED_VERSION,
    Reason.CLIENT_ID_NOT_VALID,
    Reason.SERVER_UNAVAILABLE,
    Reason.BAD_USER_NAME_OR_PASSWORD,
    Reason.NOT_AUTHORIZED,
)


def return_code(reason: Reason) -> int:
    """Return the return code of MQTT 3.1.1 for a reason of a CONNACK; "unavailable" where it has
    none.
    """
    fitting = reason if reason in RETURN_CODES else Reason.SERVER_UNAVAILABLE
    return RETURN_CODES.index(fitting)
