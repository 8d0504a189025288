"""The class of TensorBoard that doc/logging.md uses, as TensorBoard 2.21 declares it."""

from sent import note


class Writer:
    def __init__(self, output):
        note(call="begin", name=output)

    def add_scalar(self, tag, data, step, *, wall_time=None, description=None):
        note(call="numbers", found={tag: data}, batch=step)

    def flush(self):
        pass

    def close(self):
        note(call="end")
