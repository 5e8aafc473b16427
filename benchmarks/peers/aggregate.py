"""The aggregate of the peer `eventsourcing`; needs that library."""

from uuid import NAMESPACE_URL, UUID, uuid5

from eventsourcing.domain import Aggregate, event


class Owner(Aggregate):  # type: ignore[misc, unused-ignore]
    """A person and their texts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: dict[str, str] = {}

    @staticmethod
    def create_id(name: str) -> UUID:
        """By the name."""
        return uuid5(NAMESPACE_URL, name)

    @event("Told")  # type: ignore[untyped-decorator, unused-ignore]
    def told(self, key: str, text: str) -> None:
        """A text."""
        self.texts[key] = text
