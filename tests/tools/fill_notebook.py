"""Runs the cells of a notebook in a new kernel and writes what they show into it: fill_notebook.py
FILE. JUPYTER_PATH must lead to the kernel."""

import json
import re
import sys

from kernel_talk import Talk


def outputs_of(cell):
    """What Talk.run has of a cell, as notebooks have it: without the bar, which is gone by now, and
    with the texts of a stream together."""
    outputs = []
    for said in cell["outputs"]:
        kind = said.pop("kind")
        if "is_bar" in said:
            continue
        if kind == "stream" and outputs and outputs[-1].get("name") == said["name"]:
            outputs[-1]["text"] += said["text"]
            continue
        if kind in ("display_data", "execute_result"):
            said["metadata"] = {}
        outputs.append({"output_type": kind, **said})
    return outputs


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    talk, count = Talk(), 0
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            count += 1
            cell["outputs"] = outputs_of(talk.run(cell["source"]))
            cell["execution_count"] = count
            for one in cell["outputs"]:
                if one["output_type"] == "execute_result":
                    one["execution_count"] = count
    finally:
        talk.manager.shutdown_kernel()
    with open(path, "w", encoding="utf-8") as file:
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        file.write(re.sub(r"/[^\s\"]*/share/ladies/", "/usr/local/share/ladies/", text) + "\n")


main()
