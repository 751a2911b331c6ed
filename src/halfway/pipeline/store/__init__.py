"""Result folders: written, sealed, read, audited."""
