"""What tags say in words."""

import pytest

from kzoo.cards import protocol
from kzoo.cards.tags import MEANINGS, legend
from kzoo.saving.catalogue import SUPERVISION

pytestmark = pytest.mark.once


def test_every_tag_has_a_meaning():
    assert {*SUPERVISION, protocol.PUBLISHED_VALIDATION, protocol.PRETRAINED, protocol.HINT} == set(MEANINGS)


def test_the_legend_has_those_that_are_used():
    told = legend({"gold attention", "constructed"}).splitlines()
    assert [line.split("*")[1] for line in told] == ["gold attention", "constructed"] and legend(set()) == ""
