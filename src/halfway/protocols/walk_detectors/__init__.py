"""Failure detectors over publish/subscribe: directional walks bring news of members [drw §2]."""
