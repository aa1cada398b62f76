"""Addresses: what is one, and what is refused before anything is asked of anyone."""

import pytest

from kzoo.errors import InputError
from kzoo.hub.address import Address

pytestmark = pytest.mark.once
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "text, owner, name, revision",
    [
        ("hf://owner/name", "owner", "name", None),
        ("hf://owner/name@v1.0", "owner", "name", "v1.0"),
        ("hf://o/n@refs/pr/3", "o", "n", "refs/pr/3"),
        (f"hf://O-1/a_b.c@{COMMIT}", "O-1", "a_b.c", COMMIT),
    ],
)
def test_an_address_is_read_and_written(text, owner, name, revision):
    address = Address.parse(text)
    assert (address.owner, address.name, address.revision) == (owner, name, revision)
    assert str(address) == text and address.repository == f"{owner}/{name}"
    assert address.pinned == (revision == COMMIT)
    assert str(address.at("v2")) == f"hf://{owner}/{name}@v2"


@pytest.mark.parametrize(
    "text",
    [
        "hf://",
        "hf://owner",
        "hf://owner/",
        "hf:///name",
        "hf://a/b/c",
        "owner/name",
        "hf://a/b@",
        "hf://../b",
        "hf://a/..",
    ]
    + [
        "hf://a/b@../../x",
        "hf://a/b@/etc",
        "hf://a/b@x//y",
        "hf://a/b@x/",
        "hf://a/b c",
        "hf://a/b@v 1",
        "hf://a/b.git",
    ]
    + ["hf://a/b--c", "hf://-a/b", "hf://a/b@v1\n", "hf://a/b\n", "hf://a/é", "HF://a/b", f"hf://a/{'b' * 97}"]
    + ["hf://a/b@v1@v2", "hf://a/b@-x", "hf://datasets/a/b"]
    + ["hf://a/b@x#y", "hf://a/b#x", "hf://a/b@..%2fx", "hf://a/b@x?y=1", "hf://a/b@x\\y", "hf://u:p@a/b"],
)
def test_anything_else_is_one_sentence(text):
    with pytest.raises(
        InputError, match="an address on the Hub is hf://owner/name or hf://owner/name@revision"
    ) as error:
        Address.parse(text)
    assert "\n" not in str(error.value)
