"""A stand-in for GitHub on this machine: REST, Git over HTTP, webhooks and pages."""

from bot.demo.github.hub import Hub
from bot.demo.github.server import Running, serving

__all__ = ["Hub", "Running", "serving"]
