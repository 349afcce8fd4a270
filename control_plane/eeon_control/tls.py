"""TLS connections to the switches: files, their checks, and reasons why a connection failed.

Only file names are kept, shown and stored. Their contents are read when a connection is opened, so that a
renewed certificate is used without a restart, and are passed to gRPC only.

gRPC reports a missing certificate as "Socket closed". After a failure, and only then, the handshake is
therefore repeated with Python's own TLS, whose errors give the reason; nothing else is sent.
"""

import re
import socket
import ssl
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from eeon_control.errors import FabricError
from eeon_control.model_base import Strict

_FILE_LIMIT_BYTES = 1 << 20
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_BEGIN = {"ca": _CERTIFICATE, "certificate": _CERTIFICATE, "key": b"PRIVATE KEY-----"}

_HANDSHAKE_SECONDS = 3.0
# gRPC's messages for connections that were established and then closed. If none was established, there is
# nothing to find out, and trying would take time for each of many switches.
_GIVEN_UP = re.compile(
    r"failed to connect to all addresses.*(socket closed|reset|handshake|verification)",
    re.IGNORECASE | re.DOTALL,
)
_CERTIFICATE_ALERTS = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE", "BAD_CERTIFICATE", "UNKNOWN_CA")


class Tls(Strict):
    """How connections are protected. All values but `server_name` are PEM files, relative to the targets
    file."""

    ca: Annotated[str, Field(min_length=1)] | None = None
    """Certificates of the authorities that may sign the switch's certificate."""
    certificate: Annotated[str, Field(min_length=1)] | None = None
    """The controller's own certificate, for mutual TLS."""
    key: Annotated[str, Field(min_length=1)] | None = None
    """The controller's own key, for mutual TLS; only its owner may have permission to read the file."""
    server_name: Annotated[str, Field(min_length=1)] | None = None
    """The name in the switch's certificate, if it differs from the host of its address."""

    @model_validator(mode="after")
    def _certificate_and_key_go_together(self) -> Self:
        if (self.certificate is None) != (self.key is None):
            given, missing = ("key", "certificate") if self.certificate is None else ("certificate", "key")
            raise ValueError(f"{given} is given without {missing}; mutual TLS needs both")
        return self

    @property
    def files(self) -> dict[str, Path]:
        """Key of a targets file -> file."""
        named = {"ca": self.ca, "certificate": self.certificate, "key": self.key}
        return {key: Path(name) for key, name in named.items() if name is not None}

    def at(self, folder: Path) -> Self:
        """Returns the same with file names resolved relative to `folder`."""
        named = {key: str((folder / file).absolute()) for key, file in self.files.items()}
        return self.model_copy(update=named)


def file_faults(tls: Tls | None) -> Iterator[tuple[str, str]]:
    """Yields (key, fault and fix) for each file that cannot be used."""
    for key, path in () if tls is None else tls.files.items():
        fault = _fault(key, path)
        if fault is not None:
            yield key, fault


def context(tls: Tls) -> ssl.SSLContext:
    """Returns a context for Python's own TLS. Raises FabricError if the files do not fit together."""
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


def may_explain(said: str) -> bool:
    """Returns whether gRPC's message may hide a reason that `explain` can find."""
    return _GIVEN_UP.search(said) is not None


def explain(address: str, tls: Tls | None) -> str | None:
    """Returns the fault in the protection of a connection to `address`; None if the cause lies elsewhere.

    Blocks for some seconds at most.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        connection = socket.create_connection((host, int(port)), _HANDSHAKE_SECONDS)
    except OSError:
        return None  # no server listens, which gRPC's own message says
    with connection:
        return _without_tls(connection) if tls is None else _with_tls(connection, tls, host)


def _without_tls(connection: socket.socket) -> str | None:
    open_to_all = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    open_to_all.check_hostname = False
    open_to_all.verify_mode = ssl.CERT_NONE
    open_to_all.set_alpn_protocols(["h2"])
    try:
        open_to_all.wrap_socket(connection).close()
    except ssl.SSLError as error:
        if not (error.reason or "").endswith(_CERTIFICATE_ALERTS):
            return None
    except OSError:
        return None
    return "the switch requires TLS, but this connection has none; set `tls` in the targets file"


def _with_tls(connection: socket.socket, tls: Tls, host: str) -> str | None:
    name = tls.server_name or host
    try:
        wrapped = context(tls).wrap_socket(connection, server_hostname=name)
        # With TLS 1.3, the server checks the client's certificate after the client's handshake has ended.
        with wrapped:
            return None if wrapped.recv(1) else _refused(tls)
    except FabricError as error:
        return str(error)
    except ssl.SSLCertVerificationError as error:
        return _not_trusted(error, tls, name)
    except ssl.SSLError as error:
        if (error.reason or "").endswith(_CERTIFICATE_ALERTS):
            return _refused(tls)
        if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
            return "the switch does not speak TLS on this port; set `tls: off` for it, or start it with TLS"
        return f"TLS: {(error.reason or str(error)).replace('_', ' ').lower()}"
    except ConnectionError:
        return _refused(tls)
    except OSError:
        return None


def _refused(tls: Tls) -> str:
    if tls.certificate is None:
        return (
            "the switch requires a certificate of the controller (mutual TLS) and got none; set "
            "`certificate` and `key` under `tls` in the targets file"
        )
    return (
        f"the switch does not accept the controller's certificate {tls.certificate}; it must be valid now, "
        "and its file must have the certificates up to an authority that the switch trusts"
    )


def _not_trusted(error: ssl.SSLCertVerificationError, tls: Tls, name: str) -> str:
    said = error.verify_message
    match error.verify_code:
        case 62 | 64:  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
            return (
                f"the switch's certificate is not valid for {name} ({said}); set `server_name` under `tls` "
                "to the name in the certificate"
            )
        case 9 | 10:  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
            return (
                f"the switch's certificate, or that of its authority in {tls.ca}, is not valid now ({said}); "
                "renew it, and check both clocks"
            )
        case _:
            return (
                f"the switch's certificate is not signed by an authority in {tls.ca} ({said}); correct `ca`, "
                "and let the switch's file also have the certificates of intermediate authorities"
            )


def _fault(key: str, path: Path) -> str | None:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return "is not a file"
        if key == "key" and found.st_mode & _OTHERS:
            mode = stat.S_IMODE(found.st_mode)
            return f"others may read or change this private key (mode {mode:04o}): chmod 600 {path}"
        if found.st_size > _FILE_LIMIT_BYTES:
            return f"has {found.st_size} bytes; the limit of a PEM file is {_FILE_LIMIT_BYTES}"
        content = path.read_bytes()
    except OSError as error:
        return error.strerror or str(error)
    if _BEGIN[key] not in content:
        return f"is not a PEM file with a {'private key' if key == 'key' else 'certificate'}"
    if key == "key" and b"ENCRYPTED" in content:
        return "is encrypted with a password; gRPC needs an unencrypted key, in a file of mode 0600"
    return None


def _no_password() -> str:
    return ""  # OpenSSL refuses an empty password; without one, it would prompt on the terminal


def _words(error: OSError) -> str:
    reason = getattr(error, "reason", None) or error.strerror or str(error)
    known = {
        "KEY_VALUES_MISMATCH": "the key does not match the certificate",
        "NO_CERTIFICATE_OR_CRL_FOUND": "has no certificate",
    }
    return known.get(str(reason), str(reason).replace("_", " ").lower())
