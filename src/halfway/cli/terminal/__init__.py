"""The terminal side of the command line: options, completion, errors and progress."""
