"""The list of hosts as squid reads it."""

from __future__ import annotations

import pytest

from bot.errors import BadInput
from bot.settings import read_settings
from sandbox.egress import DEFAULT_HOSTS, PRIVATE, configuration


def test_what_is_refused_comes_before_what_is_allowed() -> None:
    rules = [line for line in configuration(DEFAULT_HOSTS, ()).splitlines() if line.startswith("http_access")]
    assert rules == ["http_access deny !ports", "http_access deny CONNECT !ports", "http_access deny !allowed", "http_access deny hidden !trusted",
                     "http_access allow all"]
    assert all(network in configuration((), ()) for network in PRIVATE)


def test_a_name_below_another_is_left_out_since_squid_takes_both_for_a_fault() -> None:
    lines = configuration(("a.example.org", ".example.org", "EXAMPLE.org", "example.com"), ()).splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("acl allowed")] == ["none.invalid", ".example.org", "example.com"]


@pytest.mark.parametrize("name", ["a b", "all\nhttp_access allow all", "", "*", "x/y", "-a.org"])
def test_what_is_no_host_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no host name"):
        configuration((name,), ())


def test_hosts_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUALGATE_INSTALL_HOSTS", "Nexus.corp.example, .example.org")
    assert read_settings().install_hosts == ("nexus.corp.example", ".example.org")
    monkeypatch.setenv("DUALGATE_INSTALL_HOSTS", "http://x/")
    with pytest.raises(BadInput, match="DUALGATE_INSTALL_HOSTS"):
        read_settings()
