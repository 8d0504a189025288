"""Opens a page of HTML in chromium and prints what is to be seen there as JSON, for test_view.lua:
browse_page.py FILE [FOLDER]. Light and dark, wide and narrow are looked at; the pictures of all are
left in FOLDER."""

import json
import pathlib
import sys

from browser import opened

SEEN = """() => {
  const size = e => { const r = e.getBoundingClientRect(); return [r.width, r.height]; };
  return {
    title: document.title,
    text: document.body.innerText,
    tags: [...new Set([...document.querySelectorAll("*")].map(e => e.tagName.toLowerCase()))],
    pictures: [...document.querySelectorAll("figure svg.chart")].map(size),
    background: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.body).color,
    beyond: document.documentElement.scrollWidth - innerWidth,
  };
}"""


def main():
    file = pathlib.Path(sys.argv[1]).resolve()
    views = {}
    with opened(file.as_uri()) as (page, trouble):
        for scheme in ("light", "dark"):
            for name, width in (("wide", 1280), ("narrow", 400)):
                page.emulate_media(color_scheme=scheme)
                page.set_viewport_size({"width": width, "height": 900})
                views[f"{scheme} {name}"] = page.evaluate(SEEN)
                if len(sys.argv) > 2:
                    picture = pathlib.Path(sys.argv[2]) / f"{file.stem}-{scheme}-{name}.png"
                    page.screenshot(path=picture, full_page=True)
    print(json.dumps({"trouble": trouble, "views": views}))


main()
