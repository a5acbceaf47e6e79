"""What the App's processes are told by the environment, with every fault at once."""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from bot.errors import BadInput

SECRETS = ("GITHUB_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET", "DUALGATE_ADMIN_TOKEN")


@dataclass(frozen=True)
class AppSettings:
    """`webhook_secrets`: several while rotating. `public_url`: where people reach the pages, without a slash at the end. Secrets are not in its repr."""

    app_id: int
    webhook_secrets: tuple[str, ...] = field(repr=False)
    api_url: str
    server_url: str
    data_dir: Path
    redis_url: str | None
    database_url: str = field(repr=False)
    port: int
    public_url: str
    admin_token: str | None = field(repr=False)
    minutes_per_repo_day: float


def read_app_settings(environment: Mapping[str, str], data_dir: Path, needs: Collection[str] = SECRETS[:2]) -> AppSettings:
    """Raises BadInput with one line that names every fault. `needs`: the secrets that this process can't do without."""
    faults: list[str] = []
    app_id = _whole(environment, "GITHUB_APP_ID", None, 1, 2**53, faults)
    secrets = tuple(word.strip() for word in environment.get("GITHUB_WEBHOOK_SECRET", "").split(",") if word.strip())
    if not secrets and "GITHUB_WEBHOOK_SECRET" in needs:
        faults.append("GITHUB_WEBHOOK_SECRET is not set")
    if "GITHUB_PRIVATE_KEY" in needs:
        try:
            read_private_key(environment.get("GITHUB_PRIVATE_KEY", ""))
        except BadInput as error:
            faults.append(str(error))
    port = _whole(environment, "PORT", 8000, 1, 65535, faults)
    api_url = _url(environment, "GITHUB_API_URL", "https://api.github.com", ("http", "https"), faults)
    server_url = _url(environment, "GITHUB_SERVER_URL", "https://github.com", ("http", "https"), faults)
    public_url = _url(environment, "DUALGATE_PUBLIC_URL", f"http://localhost:{port}", ("http", "https"), faults)
    redis_url = environment.get("REDIS_URL") or None
    if redis_url and urlsplit(redis_url).scheme not in ("redis", "rediss", "unix"):
        faults.append("REDIS_URL must begin with redis://, rediss:// or unix://")
    database_url = _database_url(environment.get("DATABASE_URL", ""), data_dir, faults)
    minutes = _number(environment, "DUALGATE_MINUTES_PER_REPO_DAY", 240.0, faults)
    admin_token = environment.get("DUALGATE_ADMIN_TOKEN") or None
    if admin_token and len(admin_token) < 16:
        faults.append("DUALGATE_ADMIN_TOKEN is shorter than 16 characters")
    if faults:
        raise BadInput("; ".join(faults))
    return AppSettings(
        app_id=app_id, webhook_secrets=secrets, api_url=api_url, server_url=server_url, data_dir=data_dir, redis_url=redis_url,
        database_url=database_url, port=port, public_url=public_url, admin_token=admin_token, minutes_per_repo_day=minutes)


def read_private_key(value: str) -> str:
    """The PEM text of an RSA key that is given as text or as a path to it. Raises BadInput; its message holds nothing of the key."""
    if not value.strip():
        raise BadInput("GITHUB_PRIVATE_KEY is not set")
    text = value
    if "-----BEGIN" not in value:
        path = Path(value.strip())
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise BadInput("GITHUB_PRIVATE_KEY is neither PEM text nor a file that can be read") from None
    text = text.replace("\\n", "\n")
    try:
        key = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise BadInput("GITHUB_PRIVATE_KEY is not a PEM private key") from None
    if not isinstance(key, RSAPrivateKey):
        raise BadInput("GITHUB_PRIVATE_KEY is not an RSA key")
    return text


def without_secrets(environment: Mapping[str, str], keep: tuple[str, ...] = ()) -> dict[str, str]:
    """The environment for another process: no secret of ours but those named."""
    return {name: value for name, value in environment.items() if name not in SECRETS or name in keep}


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own; one that can't be read is not."""
    try:
        return ipaddress.ip_address(address.split("%")[0]).is_loopback
    except ValueError:
        return False


def private_folder(path: Path) -> Path:
    """A folder that only its owner reads. Raises BadInput where it is another's."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    status = path.stat()
    if status.st_uid != os.getuid():
        raise BadInput(f"{path} belongs to another user")
    if stat.S_IMODE(status.st_mode) & 0o077:
        path.chmod(0o700)
    return path


def _url(environment: Mapping[str, str], name: str, default: str, schemes: tuple[str, ...], faults: list[str]) -> str:
    value = (environment.get(name) or default).rstrip("/")
    try:
        parts = urlsplit(value)
        bad = parts.scheme not in schemes or not parts.hostname or "@" in parts.netloc or parts.query or parts.fragment or parts.port == 0
    except ValueError:
        bad = True
    if bad:
        faults.append(f"{name} must be an address that begins with {' or '.join(scheme + '://' for scheme in schemes)}, without user, query or fragment")
    return value


def _database_url(value: str, data_dir: Path, faults: list[str]) -> str:
    if not value:
        return f"sqlite:///{data_dir / 'dualgate.sqlite3'}"
    scheme, _, rest = value.partition("://")
    if scheme in ("postgres", "postgresql"):
        return f"postgresql+psycopg://{rest}"
    if scheme not in ("postgresql+psycopg", "sqlite"):
        faults.append("DATABASE_URL must begin with postgresql:// or sqlite:///")
    return value


def _whole(environment: Mapping[str, str], name: str, default: int | None, low: int, high: int, faults: list[str]) -> int:
    value = environment.get(name, "").strip()
    if not value and default is not None:
        return default
    if not value:
        faults.append(f"{name} is not set")
    elif not (value.isascii() and value.isdigit() and low <= int(value) <= high):
        faults.append(f"{name} is not a whole number from {low} to {high}")
    else:
        return int(value)
    return 0


def _number(environment: Mapping[str, str], name: str, default: float, faults: list[str]) -> float:
    try:
        value = float(environment.get(name) or default)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        faults.append(f"{name} is not a number of at least 0")
    return value
