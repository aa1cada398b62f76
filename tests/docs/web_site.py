"""The site built whole, its lessons run, and looked at in a real browser: `python -m tests --web`, which needs
Chromium, Node and the packages of the extras docs and web.
"""

import http.server
import threading
from functools import partial

import pytest

from docs.builder import build

PAGES = (
    "", "guides/start/", "guides/publish/", "lessons/", "lessons/two_heads_sort/", "mechanisms/", "mechanisms/onestep/",
    "mechanisms/abc/", "tasks/copy/", "tasks/cfq/", "papers/neural_data_router/", "results/", "leaderboard/",
    "which_mechanism/", "cards/onestep_recopy/",
    "api/", "api/kzoo.layers/MonotonicAttention/", "api/kzoo.layers/WaypointAttention/", "api/kzoo/",
)  # fmt: skip
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of the site, in a folder of a host, as GitHub Pages has it."""
    root = tmp_path_factory.mktemp("host")
    assert len(build(root / "kzoo")) > 250
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=root)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/kzoo/"
        server.shutdown()


@pytest.fixture
def open_page(open_page):
    """Scripts of a page set equations and fetch results after it has loaded."""
    return partial(open_page, until="networkidle")


@pytest.mark.parametrize("address", PAGES)
def test_a_page_on_a_telephone_in_the_dark(open_page, address):
    page = open_page(address, viewport={"width": 375, "height": 700}, color_scheme="dark")
    assert page.evaluate(SIDEWAYS) <= 0
    assert page.locator("h1").count() == 1
    background = page.evaluate("getComputedStyle(document.body).backgroundColor").removeprefix("rgb(").split(",")
    assert int(background[0]) < 80
    assert page.locator(".katex-error").count() == 0
    assert not page.locator("text=/\\\\(begin|operatorname)/").locator("visible=true").count()


def test_equations_are_mathematics(open_page):
    page = open_page("api/kzoo.layers/MonotonicAttention/")
    assert page.locator(".katex-display").count() >= 1
    assert "steps" in page.locator(".katex-display .katex-html").first.inner_text()
    assert page.evaluate("document.fonts.check('16px KaTeX_Main')")
    assert page.locator("td:has-text('center, spread, time'), li:has-text('center, spread, time')").count()
    assert page.locator("h2:has-text('kzoo.layers.MonotonicAttention')").count() == 1


def test_the_table_of_results(open_page, site):
    page = open_page("results/")
    rows = page.locator(".kzoo-results tbody tr")
    assert rows.count() > 200
    page.get_by_label("Task", exact=True).select_option("copy")
    page.get_by_label("Filter", exact=True).fill("onestep_copy")
    found = rows.count()
    assert 1 <= found < 20 and page.locator(".kzoo-results svg polyline").count() == min(found, 8)
    page.locator(".kzoo-results th button[data-key=name]").press("Enter")
    assert page.locator(".kzoo-results th[aria-sort='descending']").inner_text().startswith("run")
    names = page.locator(".kzoo-results tbody tr td:nth-child(2)").all_inner_texts()
    assert names == sorted(names, reverse=True)
    page.locator(".kzoo-results th button[data-key=name]").press("Enter")
    assert page.locator(".kzoo-results tbody tr td:nth-child(2)").all_inner_texts() == names[::-1]
    page.locator(".kzoo-results [value='copy/onestep/onestep_copy']").press("Space")
    assert page.locator(".kzoo-results svg polyline").count() == 1
    state = page.url.removeprefix(site)
    again = open_page(state)
    assert again.locator(".kzoo-results svg polyline").count() == 1
    assert (
        again.get_by_label("Filter", exact=True).input_value() == "onestep_copy"
        and again.get_by_label("Task", exact=True).input_value() == "copy"
    )


def test_the_leaderboard(open_page):
    page = open_page("leaderboard/")
    assert page.get_by_label("Task", exact=True).input_value() == "copy"
    assert page.locator(".kzoo-results svg polyline").count() == 8 == page.locator(".kzoo-results .legend li").count()
    column = "document.querySelectorAll('.kzoo-results tbody tr td:nth-child(4)')"
    scores = page.evaluate(f"[...{column}].map(cell => parseFloat(cell.textContent))")
    assert len(scores) >= 20 and scores == sorted(scores, reverse=True) and scores[0] == 100
    page.locator(".kzoo-results th button[data-key=score]").click()
    assert page.evaluate(f"[...{column}].map(cell => parseFloat(cell.textContent))") == sorted(scores)
    page.get_by_label("Task", exact=True).select_option("")
    assert page.locator(".kzoo-results tbody tr").count() > 60 and "task=" in page.url and "order=up" in page.url


def test_curves_where_a_page_chooses_them(open_page):
    page = open_page("")
    assert page.locator(".kzoo-results svg polyline").count() == 5
    assert "content_copy" in page.locator(".kzoo-results svg").get_attribute("aria-label")


def test_from_the_first_page_to_a_model_and_back(open_page, site):
    page = open_page("")
    page.get_by_role("link", name="Watch them work in your browser").click()
    page.wait_for_selector(".answer p", timeout=60_000)
    assert page.url.startswith(f"{site}gallery/")
    page.get_by_role("link", name="kzoo", exact=True).click()
    page.locator("h1:has-text('kzoo')").wait_for()
    assert page.url.split("#")[0] == site


def test_search(open_page):
    page = open_page("")
    page.keyboard.press("/")
    page.keyboard.type("MonotonicAttention", delay=20)
    page.locator("a[href*='MonotonicAttention']:visible").first.wait_for()


def test_links_to_notebooks_and_pictures(open_page):
    page = open_page("lessons/beyond_the_lengths/")
    assert page.locator("a[href$='.ipynb']").count() >= 1
    sizes = page.evaluate("[...document.querySelectorAll('article img')].map(i => i.naturalWidth)")
    assert len(sizes) >= 2 and min(sizes) > 100
    page = open_page("mechanisms/onestep/")
    assert page.evaluate("document.querySelector('article img').naturalWidth") > 100
