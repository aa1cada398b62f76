"""`python -m kzoo` is the command `kzoo`."""

import sys

from kzoo.cli.main import main

sys.exit(main())
