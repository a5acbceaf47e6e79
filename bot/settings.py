"""Environment variables -> Settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from platformdirs import user_data_path
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bot.errors import BadInput
from sandbox.egress import HOST

HOST_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")


class Settings(BaseSettings):
    """What an operator can set. Names in the environment are `DUALGATE_` and the field's name in capitals."""

    model_config = SettingsConfigDict(env_prefix="DUALGATE_", extra="ignore")

    data_dir: Path = Field(default_factory=lambda: user_data_path("dualgate"), description="runs, logs, caches")
    ca_bundle: Path | None = Field(default=None, description="PEM file of a company's CA, given to installations")
    max_boxes: int = Field(default_factory=lambda: max(1, min(os.cpu_count() or 1, 4)), ge=1, description="boxes at one time")
    workers: int = Field(default=0, ge=0, description="verifications at one time; 0: half as many as boxes")
    install_hosts: Annotated[tuple[str, ...], NoDecode] = Field(default=(), description="hosts beside the public registries that installations may ask")
    install_gb: float = Field(default=24.0, gt=0, description="disk that one installation may write, GB")
    images_gb: float = Field(default=40.0, gt=0, description="disk for environment images, GB")
    keep_days: int = Field(default=90, ge=1, description="days that logs of runs, cached suites and unused clones are kept")

    @field_validator("install_hosts", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        """Host names between commas or blanks; `.name` with all below it."""
        names = tuple(value.replace(",", " ").lower().split()) if isinstance(value, str) else value
        if isinstance(names, tuple) and (wrong := [name for name in names if not HOST.fullmatch(name)]):
            raise ValueError(f"{wrong[0]!r} is no host name")
        return names

    @property
    def verifications(self) -> int:
        """How many run beside each other on this machine."""
        return self.workers or max(1, self.max_boxes // 2)

    def trusted_ca(self) -> Path | None:
        """The bundle that installations get: the one set, else the one this process itself was told to use, else the host's."""
        named = [self.ca_bundle, *(Path(os.environ[name]) for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE") if os.environ.get(name)), HOST_BUNDLE]
        return next((path for path in named if path is not None and path.is_file()), None)


def read_settings() -> Settings:
    """The environment's. Raises BadInput that names every variable that is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        faults = [f"DUALGATE_{'_'.join(str(word) for word in fault['loc']).upper()}: {fault['msg']}" for fault in error.errors()]
        raise BadInput("; ".join(faults)) from None
