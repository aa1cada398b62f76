"""Whether a built site holds together: every link leads somewhere, and nothing is loaded from elsewhere."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from docs.places import ROOT, BuildError

LOADS = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "use": "href"}
HOST, FOLDER = "site.invalid", "/folder/"  # a site need not be at the root of its host


class _Page(HTMLParser):
    """The links, what is loaded, and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        address = found.get(LOADS.get(tag, ""))
        if address and not (tag == "link" and found.get("rel") in ("canonical", "next", "prev")):
            self.loads.append(address)


def check(site: Path) -> list[str]:
    """Returns the addresses of the pages of a site.

    Raises:
        BuildError: a link or an anchor leads nowhere, a page or style loads something from another host, or a page
            names a folder of this machine.
    """
    pages = {
        path.relative_to(site).as_posix(): _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")
    }
    faults = [fault for name, page in pages.items() for fault in _faults(site, name, page, pages)]
    for path in [*site.rglob("*.css"), *site.rglob("assets/*.js")]:
        text = path.read_text(encoding="utf-8")
        faults += [f"{path.name} loads from elsewhere" for word in ("url(http", "url(//", "@import") if word in text]
    for folder in (str(ROOT), f"{sys.prefix}/lib/python"):
        faults += [f"{name} names {folder}" for name in pages if folder in (site / name).read_text(encoding="utf-8")]
    if faults:
        raise BuildError("\n".join(dict.fromkeys(faults)))
    return sorted(pages)


def _faults(site: Path, name: str, page: _Page, pages: dict[str, _Page]) -> list[str]:
    found = []
    for address in [*page.loads, *page.links]:
        target = urlsplit(urljoin(f"http://{HOST}{FOLDER}{name}", address))
        if target.scheme in ("mailto", "data", "javascript"):
            continue
        if target.netloc != HOST:
            if address in page.loads:
                found.append(f"{name} loads {address}")
            continue
        path = unquote(target.path).removeprefix(FOLDER)
        if (site / path).is_dir():
            path = f"{path.rstrip('/')}/index.html".lstrip("/")
        if not (site / path).is_file():
            found.append(f"{name}: {address} leads nowhere")
        elif target.fragment and path in pages and unquote(target.fragment) not in pages[path].anchors:
            if not target.fragment.startswith("__") and "=" not in target.fragment:  # of the theme; of a page's state
                found.append(f"{name}: {address} has no such place")
    return found
