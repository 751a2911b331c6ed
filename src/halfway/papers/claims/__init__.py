"""The claims of all papers: where each is judged, and the numbers that their words stand for."""
