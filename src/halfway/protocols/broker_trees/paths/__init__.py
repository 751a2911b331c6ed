"""Paths of broker trees over the underlay: circuits hop by hop, and which path a broker takes."""
