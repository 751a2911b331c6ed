"""Paths of broker trees over the underlay: circuits hop by hop, searches, and the choice of
a path.
"""
