"""TLS for the server's socket (P4Runtime 1.5 §3.1.1). The cryptography is gRPC's."""

from dataclasses import dataclass
from pathlib import Path

import grpc

from ...exceptions import ConfigError
from ...private_files import read_private

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Tls:
    """The server's certificate chain and its private key, in PEM.

    With `client_ca`, a client must show a certificate that one of these authorities has signed (mutual TLS);
    one without is refused before any call. Without `client_ca`, any client that reaches the socket may
    connect.
    """

    certificate_chain: bytes
    private_key: bytes
    client_ca: bytes | None = None

    @classmethod
    def from_files(cls, certificate_chain: Path, private_key: Path, client_ca: Path | None = None) -> "Tls":
        """Reads PEM files. `ConfigError` names one that cannot be read, a key that others may read, and any
        that others may change."""
        return cls(
            _read("certificate", certificate_chain),
            _read("private key", private_key, is_secret=True),
            None if client_ca is None else _read("client CA", client_ca),
        )

    def credentials(self) -> grpc.ServerCredentials:
        """Returns what gRPC takes."""
        return grpc.ssl_server_credentials(
            [(self.private_key, self.certificate_chain)],
            root_certificates=self.client_ca,
            require_client_auth=self.client_ca is not None,
        )


def _read(what: str, path: Path, *, is_secret: bool = False) -> bytes:
    content = read_private(f"TLS {what}", path, _MAX_BYTES, is_secret=is_secret)
    if b"-----BEGIN " not in content:
        raise ConfigError(f"TLS {what} '{path}' is not a PEM file; it has no line '-----BEGIN ...'")
    return content
