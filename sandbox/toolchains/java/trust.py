"""Certificates in PEM -> a key store that Java reads: it knows no other way to be told of a company's own authority."""

from __future__ import annotations

import base64
import hashlib
import re
import struct

PASSWORD = "changeit"  # Java's own default; the store holds nothing secret
PEM = re.compile(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)


def key_store(bundle: bytes) -> bytes:
    """A store of type JKS with every certificate of a bundle. The format: sun.security.provider.JavaKeyStore of OpenJDK."""
    certificates = [base64.b64decode(match[1]) for match in PEM.finditer(bundle)]
    body = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for place, certificate in enumerate(certificates):
        body += struct.pack(">I", 2) + _text(f"authority-{place}") + struct.pack(">Q", 0) + _text("X.509")
        body += struct.pack(">I", len(certificate)) + certificate
    return body + hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()


def _text(word: str) -> bytes:
    return struct.pack(">H", len(word)) + word.encode("ascii")
