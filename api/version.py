"""Which version of the program runs."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """As it was installed, such as "0.2.0"; "0" where it runs from files that nobody installed."""
    try:
        return version("engramlog")
    except PackageNotFoundError:
        return "0"
