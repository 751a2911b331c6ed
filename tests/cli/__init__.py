"""Tests of single commands."""
