"""chromium without a window, driven by Playwright, for the tests of pages and of notebooks."""

import contextlib
import shutil

from playwright.sync_api import sync_playwright

LIMIT = 60_000  # milliseconds for anything


@contextlib.contextmanager
def opened(address, width=1280, height=900):
    """A page of chromium at an address, and the list of what went wrong on it so far: errors of
    scripts, and what could not be loaded."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(LIMIT)
        trouble = []
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda line: line.type == "error" and trouble.append(line.text))
        page.on("requestfailed", lambda request: trouble.append(request.url))
        page.goto(address)
        yield page, trouble
        browser.close()
