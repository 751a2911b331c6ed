"""Paper 1: directional random walks (Leone & Muñoz 2013); cited as `drw` in comments."""
