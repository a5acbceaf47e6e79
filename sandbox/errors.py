"""What can go wrong in this room. Each message says what was wrong and what to do."""


class SandboxError(Exception):
    """Root of this room's errors."""


class EngineUnavailable(SandboxError, ConnectionError):
    """No Docker engine answers, or it lost its footing (no disk, no image)."""


class HostUnreachable(EngineUnavailable):
    """A registry that installations may ask could not be reached."""


class ImageUnavailable(SandboxError):
    """A base image can be neither found nor made."""


class EnvironmentFailed(SandboxError):
    """The repository's environment could not be built: `tried` names each rung, `tail` has the real error's last lines."""

    def __init__(self, message: str, tried: tuple[str, ...] = (), tail: str = "") -> None:
        super().__init__(message)
        self.tried = tried
        self.tail = tail


class BuildFailed(SandboxError):
    """The change's sources do not compile; the message is the compiler's."""


class UnknownPackage(EnvironmentFailed):
    """A requirement names a project that its registry does not have."""

    def __init__(self, name: str, tail: str = "") -> None:
        super().__init__(f"no such project in the registry: {name}", (), tail)
        self.name = name


class UnsafeTree(SandboxError, ValueError):
    """A tree holds an entry that must not reach a box."""


class Interrupted(SandboxError):
    """The engine was closed while it worked."""
