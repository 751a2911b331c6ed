"""Paper 4: DRIP, dynamic Voronoi regions (Yuan & Wu 2009), cited as `drip` in comments."""
