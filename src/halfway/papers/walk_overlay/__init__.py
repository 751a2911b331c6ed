"""Paper 2: an overlay of directional walks (Muñoz & Leone 2014); cited as `dwo` in comments."""
