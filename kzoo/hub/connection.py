"""Requests to the Hub: who asks, how often, and what its errors mean."""

import ipaddress
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import kzoo
from kzoo.errors import AccessError, HubError, KzooError, NotOnHubError, UnreachableError
from kzoo.hub.address import Address

T = TypeVar("T")

LIBRARY: dict[str, Any] = {"library_name": "kzoo", "library_version": kzoo.__version__}
TIMEOUT = 20.0
BUSY = (408, 429, 500, 502, 503, 504)
WAITS = (1.0, 2.0, 4.0)  # seconds before the second, third and fourth attempt


def hub_api() -> Any:
    """Returns huggingface_hub's `HfApi`, which finds the token in the usual places.

    Raises:
        HubError: HF_ENDPOINT is another machine by plain http, where anybody on the way reads the token and changes
            what is sent.
    """
    from huggingface_hub import HfApi, constants

    address = urlsplit(constants.ENDPOINT)
    if address.scheme != "https" and not _is_loopback(address.hostname or ""):
        raise HubError(
            f"HF_ENDPOINT must begin with https:// unless it is this machine, not {constants.ENDPOINT!r:.200}"
        )
    return HfApi(**LIBRARY)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def with_retries(call: Callable[[], T]) -> T:
    """Returns what `call` returns; when the Hub is busy or hangs up, asks again, up to three times.

    Args:
        call: function without arguments. Called twice, it must leave the Hub as if called once.
    """
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]

    for wait in WAITS:
        try:
            return call()
        except (OSError, httpx.HTTPError) as error:
            hung_up = isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError))
            if not hung_up and _status(error) not in BUSY:
                raise
        time.sleep(wait)
    return call()


@contextmanager
def hub_errors(address: Address) -> Iterator[None]:
    """Turns the errors of huggingface_hub into those of kzoo, a sentence each.

    Raises:
        NotOnHubError: the repository, revision or file is not there, or hidden from this user.
        AccessError: the token is missing, wrong, or not enough.
        HubError: the Hub refuses for another reason.
        UnreachableError: no answer, a server error, or no network and no copy in the cache.
    """
    from huggingface_hub import errors
    from huggingface_hub.utils import httpx  # type: ignore[attr-defined]

    try:
        yield
    except errors.RevisionNotFoundError as error:
        raise NotOnHubError(f"{address.at(None)} has no revision {address.revision or 'main'!r}") from error
    except errors.GatedRepoError as error:
        raise AccessError(f"{address.at(None)} is gated: ask for access on its page, then: hf auth login") from error
    except errors.RepositoryNotFoundError as error:
        raise NotOnHubError(
            f"there is no repository {address.at(None)}, or it is private and your token may not read it"
        ) from error
    except errors.RemoteEntryNotFoundError as error:
        raise NotOnHubError(f"{address} lacks a file that it lists") from error
    except (AttributeError, LookupError, RecursionError, TypeError) as error:
        if isinstance(error, KzooError):
            raise
        raise HubError(f"the Hub's answer for {address} is not of the Hub's form ({type(error).__name__})") from error
    except (OSError, httpx.HTTPError, RuntimeError, ValueError, httpx.InvalidURL) as error:
        if isinstance(error, KzooError) or (isinstance(error, OSError) and error.errno is not None):  # as a full disk
            raise
        raise _meaning(address, error) from error


def _meaning(address: Address, error: BaseException) -> HubError:
    from huggingface_hub.errors import OfflineModeIsEnabled

    root, status, repository = _root(error), _status(error), address.at(None)
    if isinstance(root, OfflineModeIsEnabled):
        return UnreachableError(f"HF_HUB_OFFLINE is set: nothing can be asked of the Hub for {address}")
    if status is None and isinstance(root, ValueError):
        return HubError(f"the Hub's answer for {address} is not of the Hub's form ({type(root).__name__})")
    if status is None:
        return UnreachableError(f"the Hub cannot be reached for {address} ({type(root).__name__})")
    if status in BUSY:
        return UnreachableError(f"the Hub has trouble with {address} (HTTP status {status}); try again later")
    if status in (401, 403):
        return AccessError(f"the Hub refuses this for {repository}: the token is missing, wrong or not enough")
    if status in (409, 412):
        return HubError(f"{repository} was changed by someone else meanwhile; nothing was published, try again")
    said = " ".join(str(getattr(root, "server_message", None) or "no reason given").split())
    return HubError(f"the Hub refuses this for {address} (HTTP status {status}): {said:.200}")


def _status(error: BaseException) -> int | None:
    """Returns the HTTP status behind an error of huggingface_hub, if one is."""
    return getattr(getattr(_root(error), "response", None), "status_code", None)


def _root(error: BaseException) -> BaseException:
    """Returns the error that says most: huggingface_hub wraps some that came from the network in others."""
    while getattr(error, "response", None) is None and error.__cause__ is not None:
        error = error.__cause__
    return error
