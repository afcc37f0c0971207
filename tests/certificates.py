"""A certificate authority for tests, and what it certifies: PEM files for servers at 127.0.0.1."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class Authority:
    """Certifies servers; `certificate` is the file that its clients trust."""

    def __init__(self, folder: Path, name: str = "tests") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._name = _named(name)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = folder / "ca.pem"
        itself = self._sign(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0))
        self.certificate.write_bytes(itself.public_bytes(Encoding.PEM))

    def server(self) -> tuple[Path, Path]:
        """Certify a server at 127.0.0.1; give the files of its certificate and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        certificate, private = self._folder / "server.pem", self._folder / "server.key"
        certificate.write_bytes(self._sign(_named("server"), key, address).public_bytes(Encoding.PEM))
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return certificate, private

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
            .sign(self._key, hashes.SHA256())
        )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
