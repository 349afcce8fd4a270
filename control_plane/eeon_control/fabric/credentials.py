"""TLS towards the switches: which files, whether they can be used, and what they hold.

Only names of files are kept, shown and written down. What is in them is read when a connection is opened, so
that a renewed certificate is used without a restart, and goes to gRPC and nowhere else.
"""

from __future__ import annotations

import ssl
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from finsy import GRPCCredentialsTLS

from eeon_control.errors import FabricError

_FILE_LIMIT_BYTES = 1 << 20
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_BEGIN = {
    "ca": b"-----BEGIN CERTIFICATE-----",
    "certificate": b"-----BEGIN CERTIFICATE-----",
    "key": b"PRIVATE KEY-----",
}


@dataclass(frozen=True)
class Tls:
    """How a connection is protected: PEM files by name, none of what is in them.

    `ca`: authorities of the switch's certificate. `certificate` and `key`: the controller's own, None
    without mutual TLS. `server_name`: the name in the switch's certificate where it is not the host of its
    address.
    """

    ca: Path
    certificate: Path | None = None
    key: Path | None = None
    server_name: str | None = None

    def as_value(self) -> dict[str, str]:
        """As a targets file has it."""
        named = {
            "ca": self.ca,
            "certificate": self.certificate,
            "key": self.key,
            "server_name": self.server_name,
        }
        return {key: str(value) for key, value in named.items() if value is not None}

    @property
    def files(self) -> dict[str, Path]:
        """Key of a targets file -> file."""
        named = {"ca": self.ca, "certificate": self.certificate, "key": self.key}
        return {key: path for key, path in named.items() if path is not None}


def file_faults(tls: Tls | None) -> Iterator[tuple[str, str]]:
    """(key, what is wrong and how to mend it) of each file that cannot be used."""
    for key, path in () if tls is None else tls.files.items():
        fault = _fault(key, path)
        if fault is not None:
            yield key, fault


def load(tls: Tls) -> GRPCCredentialsTLS:
    """Read the files for gRPC. Raises FabricError when one cannot be used, or key and certificate differ."""
    for key, fault in file_faults(tls):
        raise FabricError(f"tls {key} {tls.files[key]}: {fault}")
    context(tls)
    return GRPCCredentialsTLS(
        cacert=tls.ca.read_bytes(),
        cert=tls.certificate.read_bytes() if tls.certificate else None,
        private_key=tls.key.read_bytes() if tls.key else None,
        target_name_override=tls.server_name or "",
    )


def context(tls: Tls) -> ssl.SSLContext:
    """The same for Python's own TLS. Raises FabricError when the files do not fit together."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.set_alpn_protocols(["h2"])
    try:
        made.load_verify_locations(tls.ca)
    except (ssl.SSLError, OSError) as error:
        raise FabricError(f"tls ca {tls.ca}: {_words(error)}") from None
    if tls.certificate and tls.key:
        try:
            made.load_cert_chain(tls.certificate, tls.key, password=_no_password)
        except (ssl.SSLError, OSError) as error:
            raise FabricError(
                f"tls certificate {tls.certificate} and key {tls.key}: {_words(error)}"
            ) from None
    return made


def _fault(key: str, path: Path) -> str | None:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return "is not a file"
        if key == "key" and found.st_mode & _OTHERS:
            mode = stat.S_IMODE(found.st_mode)
            return f"others may read or change this private key (mode {mode:04o}): chmod 600 {path}"
        if found.st_size > _FILE_LIMIT_BYTES:
            return f"has {found.st_size} bytes; a PEM file has at most {_FILE_LIMIT_BYTES}"
        content = path.read_bytes()
    except OSError as error:
        return error.strerror or str(error)
    if _BEGIN[key] not in content:
        return f"is not a PEM file with a {'private key' if key == 'key' else 'certificate'}"
    if key == "key" and b"ENCRYPTED" in content:
        return "is encrypted with a password; gRPC needs it in the clear, in a file of mode 0600"
    return None


def _no_password() -> str:
    return ""  # an empty one is refused by OpenSSL, which would ask on the terminal otherwise


def _words(error: OSError) -> str:
    reason = getattr(error, "reason", None) or error.strerror or str(error)
    known = {
        "KEY_VALUES_MISMATCH": "they do not belong together",
        "NO_CERTIFICATE_OR_CRL_FOUND": "has no certificate",
    }
    return known.get(str(reason), str(reason).replace("_", " ").lower())
