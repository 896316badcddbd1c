"""`python -m kilohertz` is `khz`."""

import sys

from kilohertz.cli import main

if __name__ == "__main__":
    sys.exit(main())
