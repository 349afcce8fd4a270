"""Why a connection failed, in words: gRPC says "Socket closed" where a certificate was missing.

Asked only after a failure. It does the TLS handshake once more with Python's own TLS, whose errors tell what
was wrong, and sends nothing else.
"""

from __future__ import annotations

import re
import socket
import ssl

from eeon_control.errors import FabricError
from eeon_control.fabric import credentials
from eeon_control.fabric.credentials import Tls

_SECONDS = 3.0
# What gRPC says of a connection that was made and then given up. Of one that was not made at all nothing is
# to be found out, and looking would take time for each of many switches.
_GIVEN_UP = re.compile(
    r"failed to connect to all addresses.*(socket closed|reset|handshake|verification)",
    re.IGNORECASE | re.DOTALL,
)
_CERTIFICATE_ALERTS = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE", "BAD_CERTIFICATE", "UNKNOWN_CA")


def may_explain(said: str) -> bool:
    """Whether gRPC's words for a failure may hide a reason that `explain` finds."""
    return _GIVEN_UP.search(said) is not None


def explain(address: str, tls: Tls | None) -> str | None:
    """What is wrong with the protection of a connection to `address`; None when it is something else.

    Blocks for some seconds at most.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    try:
        connection = socket.create_connection((host, int(port)), _SECONDS)
    except OSError:
        return None  # nobody listens: gRPC's own words say so
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
    return "the switch wants TLS, and this is a plain connection; give `tls` in the targets file"


def _with_tls(connection: socket.socket, tls: Tls, host: str) -> str | None:
    name = tls.server_name or host
    try:
        wrapped = credentials.context(tls).wrap_socket(connection, server_hostname=name)
        # With TLS 1.3 the server judges the client's certificate after the handshake has ended here.
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
            return "the switch does not speak TLS on this port; write `tls: off` for it, or start it with TLS"
        return f"TLS: {(error.reason or str(error)).replace('_', ' ').lower()}"
    except ConnectionError:
        return _refused(tls)
    except OSError:
        return None


def _refused(tls: Tls) -> str:
    if tls.certificate is None:
        return (
            "the switch wants a certificate of the controller (mutual TLS) and got none; give `certificate` "
            "and `key` under `tls` in the targets file"
        )
    return (
        f"the switch does not accept the controller's certificate {tls.certificate}; it must be signed by an "
        "authority that the switch trusts, and not be out of date"
    )


def _not_trusted(error: ssl.SSLCertVerificationError, tls: Tls, name: str) -> str:
    said = error.verify_message
    match error.verify_code:
        case 62 | 64:  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
            return (
                f"the switch's certificate is not made for {name} ({said}); give the name that it is made "
                "for as `server_name` under `tls`"
            )
        case 9 | 10:  # X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED
            return f"the switch's certificate is out of date ({said}); renew it, and check both clocks"
        case _:
            return f"the switch's certificate is not signed by an authority in {tls.ca} ({said})"
