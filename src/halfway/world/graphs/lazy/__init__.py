"""Lazy graphs: networks whose nodes and links are drawn when a program asks for them."""
