"""`python -m webhooks`, which `dualgate serve` becomes: the door, or one line that says why not."""

from __future__ import annotations

import os
import sys

from bot.errors import BadInput, BotError
from webhooks.serve import serve_command

USAGE, MACHINERY = 2, 4


def main() -> None:
    """Exit status 2 for what the operator can set right, 4 for a machine that fails."""
    try:
        serve_command(os.environ)
    except BadInput as error:
        status, message = USAGE, str(error)
    except (BotError, OSError) as error:
        status, message = MACHINERY, str(error)
    print(f"dualgate: {' '.join(message.split())[:600]}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
