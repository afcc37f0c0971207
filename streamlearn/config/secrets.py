"""Which keys hold secrets."""


def is_secret(key: str) -> bool:
    """Tell whether what a key holds is never shown.

    >>> is_secret("sasl_plain_password")
    True
    """
    return key.endswith("password")
