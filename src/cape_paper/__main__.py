"""``python -m cape_paper``."""

import sys

from cape_paper._commands import main

if __name__ == "__main__":
    sys.exit(main())
