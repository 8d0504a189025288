"""Works with a notebook in JupyterLab in chromium and prints what is to be seen there as JSON, for
test_jupyterlab.lua: browse_notebook.py FILE [FOLDER]. JUPYTER_PATH must lead to the kernel. All its
cells are run anew, light and dark; then in a new cell a call is inspected, a name completed, a loop
interrupted, a value asked for, and the tutorial begun. Pictures of the notebook are left in FOLDER."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from browser import LIMIT, opened

SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"adaptive-theme": True},
    "notebook-extension/tracker": {"windowingMode": "none"},
}

CELLS = """() => [...document.querySelectorAll(".jp-CodeCell")].map(cell => {
  const outputs = [...cell.querySelectorAll(".jp-OutputArea-output")];
  const all = selector => outputs.flatMap(e => [...e.querySelectorAll(selector)]);
  const size = e => { const r = e.getBoundingClientRect(); return [r.width, r.height]; };
  return {
    prompt: cell.querySelector(".jp-InputPrompt").innerText,
    outputs: outputs.map(e => e.innerText),
    rows: all("table").map(table => table.rows.length),
    pictures: all("svg.ladies-picture, img").map(size),
    links: all("a").map(a => a.href),
    errors: all("[data-mime-type*=error], [data-mime-type*=stderr]").length,
    beyond: Math.max(...outputs.map(e => e.scrollWidth - e.clientWidth)),
  };
})"""

INSERT = '.jp-NotebookPanel-toolbar [data-command="notebook:insert-cell-below"]'
SELECTED = ".jp-Notebook-cell.jp-mod-selected"


@contextlib.contextmanager
def laboratory(folder):
    """The address of a JupyterLab that works in a folder, and keeps everything of its own there."""
    for name, values in SETTINGS.items():
        file = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    environment = dict(
        os.environ, HOME=str(folder), JUPYTERLAB_SETTINGS_DIR=str(folder / "settings"),
        JUPYTER_CONFIG_DIR=str(folder / "config"), JUPYTER_DATA_DIR=str(folder / "data"),
        JUPYTER_RUNTIME_DIR=str(folder / "runtime"))
    arguments = ["--no-browser", "--allow-root", "--port=0", "--IdentityProvider.token=",
                 f"--ServerApp.root_dir={folder}"]
    with open(folder / "log", "w", encoding="utf-8") as log:
        server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *arguments],
                                  env=environment, stdout=log, stderr=log)
    try:
        yield address_of(server, folder)
    finally:
        server.terminate()
        server.wait()


def address_of(server, folder):
    end = time.monotonic() + LIMIT / 1000
    while time.monotonic() < end and server.poll() is None:
        for file in (folder / "runtime").glob("jpserver-*.json"):
            with contextlib.suppress(json.JSONDecodeError):  # it is being written
                return json.loads(file.read_text())["url"]
        time.sleep(0.05)
    raise RuntimeError((folder / "log").read_text())


def without_outputs(path):
    notebook = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(notebook)


class Notebook:
    def __init__(self, page):
        self.page = page
        page.get_by_text("ladies | Idle").wait_for()

    def wait_until_run(self):
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]"
            r".every(e => /^\[\d+\]:/.test(e.innerText))")

    def choose(self, menu, entry):
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        self.page.get_by_role("menuitem", name=entry).first.click()

    def run_all(self):
        self.choose("Run", "Run All Cells")
        self.wait_until_run()

    def write(self, code):
        """Makes a new cell below the selected one and types code into it."""
        self.page.locator(INSERT).click()
        self.page.locator(SELECTED + " .cm-content").click()
        self.page.keyboard.type(code)

    def inspected(self, code):
        self.write(code)
        self.page.keyboard.press("Shift+Tab")
        return self.page.locator(".jp-Tooltip").inner_text()

    def completed(self, code):
        """What code has become when the first of the names that Tab shows is taken."""
        self.write(code)
        self.page.keyboard.press("Tab")
        self.page.locator(".jp-Completer-item").first.click()
        return self.page.locator(SELECTED + " .cm-content").inner_text()

    def output(self, code):
        self.write(code)
        self.page.keyboard.press("Control+Enter")
        return self.page.locator(SELECTED + " .jp-OutputArea-output").first

    def following(self, code):
        """What code, when it has run, puts into a new cell below."""
        count = self.page.locator(".jp-CodeCell").count()
        self.output(code).wait_for()
        new = self.page.locator(".jp-CodeCell").nth(count + 1)
        new.wait_for()
        return new.locator(".cm-content").inner_text()

    def interrupted(self, code, said):
        """The output of code that is interrupted once it has said so."""
        self.output(code).get_by_text(said).wait_for()
        self.choose("Kernel", "Interrupt Kernel")
        self.page.get_by_text("ladies | Idle").wait_for()
        return self.page.locator(SELECTED + " .jp-OutputArea-output").all_inner_texts()


def main():
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "notebook.ipynb").write_text(without_outputs(sys.argv[1]))
        with laboratory(folder) as address, opened(
                address + "lab/tree/notebook.ipynb") as (page, trouble):
            notebook = Notebook(page)
            notebook.run_all()
            cells = page.evaluate(CELLS)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                is_light = str(scheme == "light").lower()
                page.wait_for_selector(f'[data-jp-theme-light="{is_light}"]', state="attached")
                if pictures:
                    page.set_viewport_size({"width": 1280, "height": 8000})
                    page.locator(".jp-Notebook").screenshot(
                        path=pictures / f"notebook-{scheme}.png")
            print(json.dumps({
                "cells": cells,
                "inspected": notebook.inspected("ladies.schedule.cosine{"),
                "completed": notebook.completed("ladies.schedule.cos"),
                "interrupted": notebook.interrupted("print 'go' while true do end", "go"),
                "after": notebook.output("#data.train").inner_text(),
                "following": notebook.following("tutorial(2)"),
                "trouble": trouble,
            }))


main()
