"""The stand-in for GitHub: its state, and what people, Apps and accidents do to it."""

from __future__ import annotations

from bot.demo.github.checks import Checks
from bot.demo.github.webhooks import Delivery, Order


class Hub(Checks):
    """A GitHub on this machine. Tests and the demonstration act through its methods; the bot acts through `serving(hub)`.

    `requests` logs what the bot asked for, `faults` scripts accidents, `deliveries` lists attempts at webhooks, oldest first."""

    @property
    def deliveries(self) -> list[Delivery]:
        return list(self.courier.deliveries)

    def delivered(self, name: str) -> list[Delivery]:
        """Attempts at an event by `event.action` (`push` has no action)."""
        return [one for one in self.deliveries if one.name == name]

    def hold_deliveries(self) -> None:
        """Keep webhooks back until `release`."""
        self.courier.hold()

    def release(self, order: Order = "as_emitted") -> None:
        """Send what was held: as emitted, reversed, or what a function makes of the list."""
        self.courier.release(order)

    def drop_next(self, count: int = 1, status: int = 503) -> None:
        """Let the next deliveries fail as if the App's server were down (502, 503) or slow (504)."""
        self.courier.drop_next(count, status)

    def redeliver(self, guid: str) -> None:
        """Attempt a delivery again. Raises StopIteration for an unknown guid."""
        self.courier.redeliver(next(one for one in reversed(self.courier.deliveries) if one.guid == guid))

    def settle(self, timeout: float = 30.0) -> None:
        """Wait until nothing is on its way. Raises TimeoutError."""
        if not self.courier.settle(timeout):
            raise TimeoutError(f"deliveries were still on their way after {timeout} s")
