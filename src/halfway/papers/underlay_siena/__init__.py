"""Paper 5: the underlay-aware overlay (Kumar, Bellur & Kranthi Kiran 2007); cited as `uas`."""
