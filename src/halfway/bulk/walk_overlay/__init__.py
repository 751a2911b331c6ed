"""The bulk driver of the walk overlay: whole overlays, and events on them (paper 2)."""
