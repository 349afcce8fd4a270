"""TLS for the server's socket (P4Runtime 1.5 §3.1.1). gRPC implements the cryptography."""

from dataclasses import dataclass
from pathlib import Path

import grpc

from ...exceptions import ConfigError
from ...private_files import read_private

_MAX_BYTES = 1 << 20


@dataclass(frozen=True)
class Tls:
    """The server's certificate chain and private key, in PEM.

    With `client_ca`, a client must present a certificate signed by one of these authorities (mutual TLS);
    without one, it is refused before any call. Without `client_ca`, any client that reaches the socket may
    connect.
    """

    certificate_chain: bytes
    private_key: bytes
    client_ca: bytes | None = None

    @classmethod
    def from_files(cls, certificate_chain: Path, private_key: Path, client_ca: Path | None = None) -> "Tls":
        """Reads PEM files. Raises `ConfigError` with the name of a file that cannot be read or that others
        may change, or of a key that others may read."""
        return cls(
            _read("certificate", certificate_chain),
            _read("private key", private_key, is_secret=True),
            None if client_ca is None else _read("client CA", client_ca),
        )

    def credentials(self) -> grpc.ServerCredentials:
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
