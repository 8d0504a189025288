"""Serves the folder of a site on this machine, opens pages of it in chromium, and searches it, for
test_site.lua: browse_site.py FOLDER WORD PAGE... It prints, as JSON, what went wrong, for each page how
far it reaches beyond the window, wide and light, narrow and dark, and its background, and the pages
that the search finds for WORD."""

import functools
import http.server
import json
import sys
import threading

from browser import opened

BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"
BEYOND = "() => document.documentElement.scrollWidth - innerWidth"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def search(page, word):
    """The addresses that the site's search finds."""
    page.click("input.md-search__input")
    page.keyboard.type(word)
    page.wait_for_selector("a.md-search-result__link", state="attached")
    links = page.locator("a.md-search-result__link")
    return links.evaluate_all("links => links.map(link => link.href)")


def main():
    folder, word, *names = sys.argv[1:]
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        answer = {"pages": {}}
        with opened("about:blank") as (page, trouble):
            for name in names:
                seen = answer["pages"][name] = {"beyond": {}, "background": {}}
                for scheme, width in (("light", 1280), ("dark", 390)):
                    view = page.context.browser.new_page(
                        color_scheme=scheme, viewport={"width": width, "height": 900})
                    view.goto(address + name, wait_until="networkidle")
                    seen["background"][scheme] = view.evaluate(BACKGROUND)
                    seen["beyond"][width] = view.evaluate(BEYOND)
                    view.close()
            page.goto(address + names[0], wait_until="networkidle")
            answer["found"] = search(page, word)
            answer["trouble"] = trouble
        server.shutdown()
    print(json.dumps(answer))


main()
