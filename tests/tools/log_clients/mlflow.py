"""The functions of MLflow that doc/logging.md calls, as MLflow 3.17 declares them."""

import contextlib

from sent import note


def set_experiment(experiment_name=None, experiment_id=None):
    note(call="set_experiment", name=experiment_name)


@contextlib.contextmanager
def start_run(run_id=None, experiment_id=None, run_name=None):
    note(call="begin", name=run_name)
    yield
    note(call="end")


def log_params(params, synchronous=None, run_id=None):
    note(call="settings", found=params)


def log_metrics(metrics, step=None, synchronous=None, run_id=None):
    note(call="numbers", found=metrics, batch=step)
