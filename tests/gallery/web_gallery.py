"""The gallery in a real browser, and all its presets on 200 inputs: `python -m tests --web`, which needs Chromium, Node
and the package playwright.
"""

import threading
import time
from contextlib import contextmanager
from urllib.parse import quote

import pytest

from kzoo.cli.gallery import server

CASES, FEW = 200, 8
COLD = 3.0  # seconds from an empty browser to an answer
SPEED = 20  # steps a second
ATTEMPTS = 8  # to be fast: other programs may take the processor
WHOLE_PAGE = "document.documentElement.scrollWidth - innerWidth"


@contextmanager
def serving(folder):
    with server(folder, 0) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{found.server_port}/"
        found.shutdown()


@pytest.fixture(scope="module")
def site(folder):
    with serving(folder) as address:
        yield address


def link(page, preset, text, **others):
    more = "".join(f"&{key}={value}" for key, value in others.items())
    return f"#page={page}&preset={preset}&input={quote(text)}{more}"


def answered(page):
    """Waits for the verdict of the model; returns what it says."""
    page.wait_for_selector(".answer p", timeout=60_000)
    return page.locator(".answer").first.inner_text()


@pytest.fixture(scope="module")
def cases(data, golden_of):
    """The golden cases of every preset."""
    return {name: golden_of(name, CASES) for name in data["presets"]}


def test_the_logits_of_every_preset_are_those_of_python(cases, under_node):
    few = {name: one | {"cases": one["cases"][:FEW]} for name, one in cases.items()}  # the browser answers all
    for name, one in under_node(few).items():
        assert (one["cases"], one["wrong"], one["unsolved"]) == (FEW, [], []), name
        assert one["difference"] < 1e-4, name


def test_every_preset_answers_as_python_does_in_the_browser(cases, open_page):
    page = open_page()
    answered(page)
    script = """async ([name, sources]) => {
        const { Store } = await import("./store.js");
        const { solve } = await import("./models/tasks.js");
        const store = await Store.load();
        const preset = await store.preset(name);
        const right = (source) => solve(source, store.about(name));
        return [sources.map((source) => preset.answer(source)), sources.map(right)];
    }"""
    for name, one in cases.items():
        found = page.evaluate(script, [name, [case["source"] for case in one["cases"]]])
        assert found == [[case[key] for case in one["cases"]] for key in ("answer", "target")], name


def test_every_exhibit_shows_what_its_model_answers(cases, data, open_page):
    for exhibit in data["pages"]:
        for name in exhibit.get("presets", {}):
            case = cases[name]["cases"][1]
            page = open_page(link(exhibit["id"], name, case["source"]))
            said = answered(page)
            right = case["answer"] == case["target"]
            assert said.startswith("✓ Right" if right else "✗ Wrong"), (name, said)
            assert case["answer"].replace(" ", "") in said.replace(" ", ""), name
            page.context.close()


def test_a_link_leads_back_to_the_same_step(open_page):
    page = open_page(link("sort", "theorem_sorter", "12 72 78 94", at=3))
    answered(page)
    page.wait_for_function("document.querySelector('.count').textContent === '3 of 4'")
    assert "Step 3 reads “72” and writes “78”" in page.locator(".said").inner_text()
    page.get_by_role("button", name="One step on").click()
    page.wait_for_function("location.hash.includes('at=4')")
    again = open_page(page.url.split("/")[-1])
    answered(again)
    again.wait_for_function("document.querySelector('.count').textContent === '4 of 4'")
    assert again.locator(".said").inner_text() == page.locator(".said").inner_text()


REFUSED = {
    ("walk", "onestep_copy", "4 7 x"): "“x” is no token of this model. It reads 0 to 9, with spaces between.",
    ("walk", "onestep_copy", " ".join("1" * 2200)): "That is 2,200 tokens; this page takes up to 2,100.",
    ("walk", "waypoint_lookup", "t1 010 ."): "An input is a code of three bits, tables t1 to t8, and a full stop",
    ("sort", "theorem_sorter", "5 101"): "“101” is no token of this model. It reads 1 to 100, with spaces between.",
    ("sort", "theorem_sorter", " "): "Nothing to read yet: type numbers from 1 to 100",
    ("add", "abc_addition", "12+"): "An input is two numbers with a plus between, for example",
    ("add", "abc_addition", "1-2"): "“-” is no token of this model. It reads 0 to 9 and “+”.",
    ("stack", "pushdown_modular_arithmetic", "(4*"): "An input is numbers 0 to 4 joined by +, - and *",
    ("stack", "pushdown_solve_equation", "(4+x)"): "An input is numbers 0 to 4 and one x joined by + and -",
    ("stack", "pushdown_solve_equation", "(4+(x-1)=2"): "An input is numbers 0 to 4 and one x joined by + and -",
    ("cells", "neural_gpu_tagger_binary_multiplication", "1*"): "An input is two binary numbers with * between",
    ("tree", "long_ndr_arithmetic", "(4*7"): "An input is digits joined by + and *, each pair in brackets",
    ("tree", "ndr_listops", "[MAX 1 2"): "An input is an operation such as [MAX",
    ("tree", "ndr_ctl_forward", "a b"): "An input is a code of three bits and functions a to k",
}


def test_bad_input_gets_a_sentence_and_good_input_goes_on(open_page):
    for (exhibit, name, text), sentence in REFUSED.items():
        page = open_page(f"#page={exhibit}&preset={name}")
        answered(page)
        page.get_by_label("Your input").fill(text)
        page.get_by_label("Your input").press("Enter")
        page.wait_for_selector(".error:not(:empty)")
        assert page.get_by_role("alert").inner_text().startswith(sentence)
        page.locator(".examples button").first.click()
        answered(page)
        assert page.locator(".error").inner_text() == ""
        page.context.close()


def test_the_first_answer_of_a_cold_browser_comes_soon(open_page):
    seconds = []
    while not seconds or (min(seconds) > COLD and len(seconds) < ATTEMPTS):
        started = time.perf_counter()
        page = open_page()
        answered(page)
        seconds.append(time.perf_counter() - started)
        page.context.close()
    assert min(seconds) < COLD, seconds


PLAYED = """() => new Promise((resolve) => {
    const speed = document.querySelector(".speed");
    speed.value = %d;
    const count = document.querySelector(".count");
    let steps = 0;
    new MutationObserver(() => steps++).observe(count, {childList: true});
    const started = performance.now();
    document.querySelector("[aria-label=Play]").click();
    const timer = setInterval(() => {
        if (!document.querySelector("[aria-label=Play]")) return;
        clearInterval(timer);
        resolve(steps / ((performance.now() - started) / 1000));
    }, 20);
})"""


@pytest.mark.parametrize(
    ("exhibit", "name"),
    [
        ("walk", "onestep_copy"),
        ("sort", "theorem_sorter"),
        ("add", "abc_addition"),
        ("tree", "long_ndr_arithmetic"),
        ("stack", "pushdown_modular_arithmetic"),
        ("cells", "neural_gpu_tagger_binary_multiplication"),
    ],
)
def test_it_plays_so_many_steps_a_second(exhibit, name, data, open_page):
    text = max((e["source"] for e in data["presets"][name]["examples"] if len(e["source"]) < 200), key=len)
    page = open_page(link(exhibit, name, text, at=1))
    answered(page)
    rates = []
    while not rates or (max(rates) < 0.9 * SPEED and len(rates) < ATTEMPTS):
        rates.append(page.evaluate(PLAYED % SPEED))
    assert 0.9 * SPEED <= max(rates) <= 1.2 * SPEED, rates


FOCUSED = """() => {
    const found = document.activeElement;
    return found.ariaLabel || found.closest("label")?.textContent || found.textContent;
}"""


def test_the_keyboard_is_enough(open_page):
    page = open_page(link("walk", "onestep_copy", "4 7 9 8", at=1))
    answered(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the model"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = []
    for _ in range(15):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(FOCUSED))
    order = ["Your input", "Run", "8 digits", "Play", "One step on", "Speed", "Map of the attention"]
    places = [next(i for i, said in enumerate(seen) if said.startswith(name)) for name in order]
    assert places == sorted(places) and seen[0].startswith("Model")
    page.get_by_label("Your input").fill("3 1")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.answer').textContent.includes('3 1')")
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert page.locator(".said").inner_text().startswith("Step 2 writes “1”")
    assert page.get_by_role("slider", name="Step").get_attribute("aria-valuetext") == "step 2 of 3"


NAMELESS = """() => [...document.querySelectorAll("button, input, select, a, [role=img], [tabindex]")].filter(
    (e) => e.id !== "main" && !(e.ariaLabel || e.labels?.length || e.textContent.trim())).map((e) => e.outerHTML)"""


def test_a_screen_reader_has_a_name_for_everything(data, open_page):
    for exhibit in data["pages"]:
        page = open_page(f"#page={exhibit['id']}")
        answered(page)
        assert page.evaluate(NAMELESS) == []
        assert page.locator("h1").all_inner_texts() == [exhibit["title"]]
        assert page.locator("nav [aria-current=page]").all_inner_texts() == [exhibit["title"]]
        assert page.locator("[role=status]").count() >= 1 and page.locator("[role=alert]").count() == 1
        page.context.close()


CONTRAST = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const light = (name) => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(--${name})`;
        canvas.fillStyle = getComputedStyle(probe).color;
        canvas.fillRect(0, 0, 1, 1);
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((x) => x / 255);
        const linear = parts.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const found = {};
    for (const ground of ["paper", "panel"]) for (const ink of ["ink", "soft", "accent", "second", "good", "bad"]) {
        const [low, high] = [light(ground), light(ink)].sort((a, b) => a - b);
        found[`${ink} on ${ground}`] = (high + 0.05) / (low + 0.05);
    }
    return [light("paper"), found];
}"""


def test_letters_can_be_read_by_day_and_by_night(open_page):
    papers = []
    for scheme in ("light", "dark"):
        paper, contrasts = open_page(color_scheme=scheme).evaluate(CONTRAST)
        papers.append(paper)
        assert min(contrasts.values()) >= 4.5, (scheme, contrasts)
    assert papers[0] > 0.9 and papers[1] < 0.05


def test_a_telephone_needs_no_scrolling_to_the_side(data, open_page):
    for exhibit in data["pages"]:
        page = open_page(f"#page={exhibit['id']}", viewport={"width": 375, "height": 700})
        answered(page)
        assert page.evaluate(WHOLE_PAGE) <= 0, exhibit["id"]
        page.context.close()


def test_a_duel_shows_where_each_breaks(open_page):
    page = open_page("#page=duel&duel=0&length=10")
    corners = page.locator(".corner .answer")
    page.wait_for_function(
        "[...document.querySelectorAll('.corner .answer')].filter((e) => e.querySelector('p')).length === 2"
    )
    assert [said[:1] for said in corners.all_inner_texts()] == ["✓", "✓"]
    page.get_by_role("slider", name="Length").fill("40")
    page.wait_for_selector(".k0 .good")
    page.wait_for_selector(".k1 .bad")
    assert "The first mistake is at symbol" in corners.nth(1).inner_text()
    assert page.get_by_role("slider", name="Length").get_attribute("aria-valuetext") == "length 40, beyond training"
    page.get_by_role("button", name="Try 20 of this length").click()
    page.wait_for_function("document.querySelectorAll('.tried').length === 2", timeout=60_000)
    assert "of 20 tried here: onestep_copy 20, content_copy 0." in page.locator("article > .hint").inner_text()
    assert (
        page.locator(".breaks li").all_inner_texts()[1]
        == "content_copy: right in 95 % or more up to length 10; 0 % at 15."
    )


def test_once_loaded_it_works_without_its_server(browser, folder, data):
    context = browser.new_context()
    page = context.new_page()
    with serving(folder) as address:
        page.goto(address)
        answered(page)
        page.evaluate("() => navigator.serviceWorker.ready.then(() => null)")
        wait = "async (n) => (await (await caches.open('kzoo-gallery')).keys()).length >= n"
        page.wait_for_function(wait, arg=len(data["files"]), timeout=60_000)
    page.goto(f"{address}{link('tree', 'long_ndr_arithmetic', '(4+(2*3))')}")
    page.reload()
    assert answered(page).startswith("✓ Right: 0")
    context.close()


def test_presets_that_cannot_be_loaded_are_told_of(browser, site):
    context = browser.new_context(service_workers="block")
    page = context.new_page()
    page.route("**/weights/*", lambda route: route.abort())
    page.goto(site)
    page.wait_for_selector(".error:not(:empty)")
    assert "Press Run to try again" in page.locator(".error").inner_text()
    page.unroute("**/weights/*")
    page.get_by_role("button", name="Run").click()
    assert answered(page).startswith("✓ Right")
    context.close()
