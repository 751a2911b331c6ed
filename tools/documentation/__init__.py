"""The documentation site: pages of the repository and generated reference, as static HTML."""
