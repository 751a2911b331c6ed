"""Digests of texts: the first half of a known SHA-256."""

from halfway.core.values.digest import short_digest


def test_the_short_digest_of_an_empty_text_is_the_known_one() -> None:
    assert short_digest("") == "e3b0c44298fc1c14"  # FIPS 180-4: e3b0c442 98fc1c14 9afbf4c8 ...
