"""Where the parts are joined: settings in, an application out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engramlog_server.events.errors import EngramlogError
from engramlog_server.ops.catch_up import FoldCatchUp, Tell
from engramlog_server.ops.embedded.folder import Role
from engramlog_server.ops.embedders import meanings_of
from engramlog_server.ops.erasure.watch import ErasedWatch
from engramlog_server.ops.joined import JoinedApplication
from engramlog_server.ops.models import model_of
from engramlog_server.ops.settings import Settings
from engramlog_server.ops.store import OpenStore, open_the_store

if TYPE_CHECKING:
    from engramlog_server.api.application import Application
    from engramlog_server.events.heads import HeadBook
    from engramlog_server.ops.kept.head_file import HeadFile


def quiet(_fact: str, **_facts: Any) -> None:
    """Tells nobody."""


@contextmanager
def open_application(
    settings: Settings, role: Role = "command", *, tell: Tell = quiet, on_wait: Callable[[str], None] | None = None
) -> Iterator[Application]:
    """The application for a command's duration: accesses are flushed and everything appended is folded at its end."""
    with (
        open_the_store(settings, role, on_wait=on_wait, tell=tell) as store,
        application_on(store, settings, tell=tell, on_wait=on_wait, stays=role != "command") as application,
    ):
        yield application


def ask_kept_values(store: OpenStore, catch_up: FoldCatchUp, tell: Tell) -> str | None:
    """Look whether the store has all rejections that are kept outside of it, and have folded what was said again, and
    what was erased again; tells that."""
    until = dict(store.fenced)
    for partition, seq in store.values.look().items():
        until[partition] = max(seq, until.get(partition, 0))
    if until:
        try:
            catch_up(until)
        except EngramlogError as error:
            tell("rejections not folded", reason=error.message, alarm=True)
    return store.values.restored


def kept_heads(store: OpenStore, settings: Settings) -> Callable[[], HeadBook]:
    """What reads the heads that are kept of a store on this machine."""
    files: list[HeadFile] = []

    def read() -> HeadBook:
        from engramlog_server.ops.kept.head_file import HeadFile, heads_path

        if not files:
            files.append(HeadFile(heads_path(settings, store.identity.store_id)))
        return files[0].read()

    return read


@contextmanager
def application_on(
    store: OpenStore,
    settings: Settings,
    *,
    tell: Tell = quiet,
    on_wait: Callable[[str], None] | None = None,
    stays: bool = True,
) -> Iterator[Application]:
    """The same on a store that is open already. `stays`: the process answers more than one command, so all is joined now."""
    catch_up, model = FoldCatchUp(store, tell), model_of(settings)
    application = JoinedApplication(
        store,
        catch_up,
        tell,
        queue_url=settings.queue_url,
        meanings=meanings_of(settings, store),
        model=model,
        kept_heads=kept_heads(store, settings),
        extraction=settings.extraction,
        embeds_writes=stays,
    )
    if stays:
        application.join()
    if store.embedded is not None and store.embedded.owned:
        catch_up.fold_leftovers(on_wait)
    application.restored = ask_kept_values(store, catch_up, tell)
    erased = ErasedWatch(store, settings).every()
    if stays and store.client.seals.is_on:
        erased.start()
    try:
        yield application
        application.settle()
        store.receipts.save()
        if store.receipts.moved:
            from engramlog_server.ops.kept.heads import keep_quietly

            keep_quietly(store, settings)
    finally:
        erased.stop()
        application.close()
        model.close()
        catch_up.end()
