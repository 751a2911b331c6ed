"""Networks: drawn, imported, described."""
