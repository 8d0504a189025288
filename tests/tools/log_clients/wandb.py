"""The functions of Weights & Biases that doc/logging.md calls, as wandb 0.31 declares them."""

from sent import note


class Run:
    def log(self, data, step=None, commit=None):
        note(call="numbers", found=data, batch=step)

    def finish(self, exit_code=None):
        note(call="end")


def init(entity=None, project=None, dir=None, id=None, name=None, notes=None, tags=None, config=None):
    note(call="begin", name=name)
    note(call="settings", found=config)
    return Run()
