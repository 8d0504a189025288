"""Talks with the kernel through jupyter_client and prints what comes as lines of JSON, for
test_notebook.lua: kernel_talk.py FILE, where FILE holds a JSON array of requests. What is random or
depends on time is left out.

    {"run": code}                        {"reply": ..., "outputs": [...]}
    {"run": code, "interrupt_at": text}  interrupted once the text was printed; with "seconds" until
                                         the reply
    {"complete" | "inspect": code, "at": n}, {"is_complete": code}    the reply's content
    {"restart": true}
"""

import json
import sys
import time

from jupyter_client import KernelManager

LIMIT = 60  # seconds for anything

DROPPED = {"metadata", "execution_count", "user_expressions", "transient"}


def kept(content):
    """What is compared: an empty payload, which most replies have, is left out."""
    return {key: value for key, value in content.items()
            if key not in DROPPED and (key != "payload" or value)}


class Talk:
    def __init__(self):
        self.manager = KernelManager(kernel_name="ladies")
        self.manager.start_kernel()
        self.connect()

    def connect(self):
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LIMIT)

    def run(self, code, interrupt_at=None):
        outputs, ids, interrupted = [], [], []

        def hook(message):
            kind, content = message["msg_type"], message["content"]
            if kind in ("status", "execute_input"):
                return
            outputs.append({"kind": kind, **kept(content)})
            if "transient" in content:
                outputs[-1]["is_bar"] = True
                ids.append(content["transient"]["display_id"])
            if interrupt_at and interrupt_at in content.get("text", ""):
                interrupted.append(time.monotonic())
                self.manager.interrupt_kernel()

        reply = self.client.execute_interactive(code, output_hook=hook, timeout=LIMIT)
        said = {"reply": kept(reply["content"]), "outputs": outputs, "n_bars": len(set(ids))}
        if interrupted:
            said["seconds"] = time.monotonic() - interrupted[0]
        return said

    def answer(self, request):
        if "run" in request:
            return self.run(request["run"], request.get("interrupt_at"))
        if "restart" in request:
            self.manager.restart_kernel()
            self.connect()
            return {}
        for name in ("complete", "inspect", "is_complete"):
            if name in request:
                at = [request["at"]] if "at" in request else []
                asked = getattr(self.client, name)(request[name], *at)
                while True:
                    reply = self.client.get_shell_msg(timeout=LIMIT)
                    if reply["parent_header"].get("msg_id") == asked:
                        return kept(reply["content"])
        raise ValueError(request)


def main():
    talk = Talk()
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            for request in json.load(file):
                print(json.dumps(talk.answer(request)), flush=True)
    finally:
        talk.manager.shutdown_kernel()


if __name__ == "__main__":
    main()
