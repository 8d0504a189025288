"""The kernel of ladies for Jupyter: passes what a notebook asks to one `ladies` process, and what
that shows to the notebook. What cells mean, and what comes of them, is decided in
lua/ladies/prompt/notebook.lua, which also says what the messages are.

Jupyter starts it as `ladies kernel --install` has written into kernel.json; the program is named by
the environment variable LADIES_PROGRAM. With --places it prints the Python that runs it and the
folder where Jupyter keeps the data of this user."""

import codecs
import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import uuid

from ipykernel.kernelbase import Kernel

CHUNK = 1 << 16
PR_SET_PDEATHSIG = 1


class Ended(Exception):
    """The program has ended; the text says how."""


def _end_with_parent():
    """Runs in the child, before the program: Linux then ends it with the kernel, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    """The `ladies` process: what it prints and says, in the order in which it came."""

    def __init__(self, path):
        requests, to_requests = os.pipe()
        self.requests = os.fdopen(to_requests, "wb")
        self.messages, messages = os.pipe()
        code = "return require('ladies.prompt.notebook').serve('/dev/fd/%d', '/dev/fd/%d')"
        self.process = subprocess.Popen(
            [path, "-e", code % (requests, messages)], pass_fds=(requests, messages),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            start_new_session=True, preexec_fn=_end_with_parent)
        os.close(requests)
        os.close(messages)
        self.text = b""
        self.streams = {"stdout": self.process.stdout.fileno(),
                        "stderr": self.process.stderr.fileno()}
        self.decoders = {name: codecs.getincrementaldecoder("utf-8")("replace")
                         for name in self.streams}
        self.selector = selectors.DefaultSelector()
        for name, descriptor in self.streams.items():
            os.set_blocking(descriptor, False)
            self.selector.register(descriptor, selectors.EVENT_READ, name)
        self.selector.register(self.messages, selectors.EVENT_READ, None)

    def interrupt(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def close(self):
        """Ends it at once, whatever it does."""
        self.process.kill()
        self.process.wait()
        self.selector.close()
        os.close(self.messages)
        with contextlib.suppress(BrokenPipeError):
            self.requests.close()
        self.process.stdout.close()
        self.process.stderr.close()

    def ask(self, request):
        """Sends a request and yields what comes of it: (name of a stream, text) for what is printed,
        (None, message) for messages, of which the reply is the last."""
        self._write(request)
        while True:
            for key, _ in self.selector.select():
                if key.data:
                    yield from self._printed(key.data)
                    continue
                more = os.read(self.messages, CHUNK)
                self.text += more
                *lines, self.text = self.text.split(b"\n")
                for name in self.streams:  # what was printed before these was there before them
                    yield from self._printed(name)
                if not more:
                    raise Ended(self._how_it_ended())
                for line in lines:
                    message = json.loads(line.decode(errors="replace"))
                    yield None, message
                    if message["kind"] == "reply":
                        return
                    self._write(message["n"])

    def _write(self, value):
        try:
            self.requests.write(json.dumps(value).encode() + b"\n")
            self.requests.flush()
        except BrokenPipeError:
            raise Ended(self._how_it_ended()) from None

    def _printed(self, name):
        descriptor = self.streams[name]
        while True:
            try:
                data = os.read(descriptor, CHUNK)
            except BlockingIOError:
                return
            text = self.decoders[name].decode(data, final=not data)
            if text:
                yield name, text
            if not data:
                if descriptor in self.selector.get_map():
                    self.selector.unregister(descriptor)
                return

    def _how_it_ended(self):
        status = self.process.wait()
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        return f"ladies has ended {how}; the next cell starts it anew, without your variables"


class LadiesKernel(Kernel):
    implementation = "ladies"
    implementation_version = "1.0"
    banner = "ladies: deep graph convolutional networks on large graphs, in Lua"
    language_info = {"name": "lua", "version": "5.4", "mimetype": "text/x-lua",
                     "file_extension": ".lua", "codemirror_mode": "lua", "pygments_lexer": "lua"}
    program = None
    bar = None  # the id of this cell's progress bar, once it was shown

    def _ask(self, **request):
        """What comes of a request. Ctrl-C goes to the program, which answers also then."""
        if self.program is None:
            self.program = Program(os.environ.get("LADIES_PROGRAM", "ladies"))
        before = signal.signal(signal.SIGINT, self.program.interrupt)
        try:
            yield from self.program.ask(request)
        except Ended:
            self.program.close()
            self.program = None
            raise
        finally:
            signal.signal(signal.SIGINT, before)

    def _reply(self, **request):
        """The reply alone; an empty one where the program has ended."""
        try:
            return [message for name, message in self._ask(**request) if name is None][-1]
        except Ended:
            return {}

    def _send(self, kind, **content):
        self.send_response(self.iopub_socket, kind, content)

    def _show_bar(self, text):
        """Draws the progress bar where it stands already, or as a new output."""
        kind = "update_display_data" if self.bar else "display_data"
        self.bar = self.bar or uuid.uuid4().hex
        self._send(kind, data={"text/plain": text}, metadata={}, transient={"display_id": self.bar})

    def _show(self, name, message):
        if name:
            self._send("stream", name=name, text=message)
        elif message["kind"] == "bar":
            self._show_bar(message["text"])
        elif message.get("result"):
            self._send("execute_result", data=message["data"], metadata={},
                       execution_count=self.execution_count)
        else:
            self._send("display_data", data=message["data"], metadata={})

    async def do_execute(self, code, silent, store_history=True, user_expressions=None,
                         allow_stdin=False, *, cell_meta=None, cell_id=None):
        self.bar = None
        try:
            for name, message in self._ask(op="execute", code=code):
                if name is None and message["kind"] == "reply":
                    error, following = message.get("error"), message.get("next")
                elif not silent:
                    self._show(name, message)
        except Ended as ended:
            error = str(ended)
        if error is None:
            payload = [{"source": "set_next_input", "text": following, "replace": False}]
            return {"status": "ok", "execution_count": self.execution_count,
                    "payload": payload if following else [], "user_expressions": {}}
        content = {"ename": "Error", "evalue": error.split("\n")[0], "traceback": error.split("\n")}
        if not silent:
            self._send("error", **content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    async def do_complete(self, code, cursor_pos):
        at = len(code) if cursor_pos is None else cursor_pos
        reply = self._reply(op="complete", code=code, at=at)
        return {"status": "ok", "matches": reply.get("matches", []), "metadata": {},
                "cursor_start": reply.get("from", at), "cursor_end": at}

    async def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        text = self._reply(op="inspect", code=code, at=cursor_pos).get("text")
        return {"status": "ok", "found": text is not None, "metadata": {},
                "data": {} if text is None else {"text/plain": text}}

    async def do_is_complete(self, code):
        return {"status": self._reply(op="is_complete", code=code).get("status", "unknown"),
                "indent": ""}

    async def do_shutdown(self, restart):
        if self.program:
            self.program.process.kill()
        return {"status": "ok", "restart": restart}


def main():
    if sys.argv[1:] == ["--places"]:
        from jupyter_core.paths import jupyter_data_dir
        print(sys.executable, jupyter_data_dir(), sep="\n")
        return
    from ipykernel.kernelapp import IPKernelApp
    IPKernelApp.launch_instance(kernel_class=LadiesKernel)


if __name__ == "__main__":
    main()
