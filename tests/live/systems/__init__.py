"""Tests of the live faces of systems."""
