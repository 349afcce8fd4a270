"""Certificates and keys generated at run time. For tests only."""

import datetime
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# Certificates are used only during the tests, which must be between the dates.
_BEGIN = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
_END = datetime.datetime(2120, 1, 1, tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Identity:
    """A certificate and its key."""

    own: x509.Certificate
    private: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.own.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )


def made(
    name: str, issuer: Identity | None = None, *, end: datetime.datetime = _END, **names: str
) -> Identity:
    """Returns an identity signed by `issuer`, or an authority. `ip`, `dns`: the names in the certificate."""
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    alternative: list[x509.GeneralName] = [x509.IPAddress(ip_address(names.get("ip", "127.0.0.1")))]
    if "dns" in names:
        alternative = [x509.DNSName(names["dns"])]
    own = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.own.subject if issuer else subject)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BEGIN)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(alternative), critical=False)
        .sign(issuer.private if issuer else private, hashes.SHA256())
    )
    return Identity(own, private)


def identity(
    folder: Path, name: str, issuer: Identity | None = None, *, end: datetime.datetime = _END, **names: str
) -> Identity:
    """Returns an identity of `made`, with files in a folder: `name.pem`, and `name.key`, which has mode 0600."""
    one = made(name, issuer, end=end, **names)
    (folder / f"{name}.pem").write_bytes(one.certificate_pem)
    key = folder / f"{name}.key"
    key.touch(mode=0o600)
    key.write_bytes(one.key_pem)
    return one
