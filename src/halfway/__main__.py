"""`python -m halfway`: the command line."""

import sys

from halfway.cli import main

if __name__ == "__main__":
    sys.exit(main())
