"""Tests of kept events on live nodes."""
