"""`python -m kzoo` is the command `kzoo`."""

import sys

from kzoo.cli import main

sys.exit(main())
