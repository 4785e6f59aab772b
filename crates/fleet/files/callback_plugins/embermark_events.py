"""Prints the events of the devices as JSON, one per line, for `embermark fleet run`."""

import json

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: embermark_events
type: stdout
short_description: events of devices as JSON, one per line
description: Each line has a device, a task, its status (ok, failed, unreachable, retry) and its output.
"""


class CallbackModule(CallbackBase):
    """Prints a line for each task of each device."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "embermark_events"

    def _print(self, status, result):
        output = result._result
        line = {
            "device": result._host.get_name(),
            "task": result._task.get_name().removeprefix("embermark : "),
            "status": status,
            "message": self._message(output),
            "out": output.get("stdout", ""),
            "probes": output.get("probes", []),
        }
        print(json.dumps(line), flush=True)

    @staticmethod
    def _message(output):
        """Returns the line with the reason: the last line of a command's errors, or else Ansible's message."""
        errors = output.get("stderr") or output.get("module_stderr") or ""
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        if lines:
            return lines[-1]
        words = output.get("msg")
        return words.strip().split("\n")[0] if isinstance(words, str) else ""

    def v2_runner_on_ok(self, result):
        self._print("ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        if not ignore_errors:
            self._print("failed", result)

    def v2_runner_on_unreachable(self, result):
        self._print("unreachable", result)

    def v2_runner_retry(self, result):
        self._print("retry", result)
