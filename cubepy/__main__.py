"""`python -m cubepy` is the `cubepy` command."""

import sys

from cubepy.tools import main

if __name__ == "__main__":
    sys.exit(main())
