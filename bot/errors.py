"""What can go wrong in this room."""


class BotError(Exception):
    """Root of this room's errors."""


class BadInput(BotError, ValueError):
    """The caller's fault: one clear line, exit status 2, nothing run."""
