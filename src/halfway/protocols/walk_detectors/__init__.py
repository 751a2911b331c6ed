"""Failure detectors over publish/subscribe: directional walks carry the news of members [drw
§2].
"""
