"""What happens on the devices as JSON, a line each, for `embermark fleet run`."""

import json

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: embermark_events
type: stdout
short_description: what happens on devices as JSON, a line each
description: Each line has a device, a task, how it ended (ok, failed, unreachable, retry) and what it said.
"""


class CallbackModule(CallbackBase):
    """A line for each task of each device."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "embermark_events"

    def _say(self, status, result):
        said = result._result
        line = {
            "device": result._host.get_name(),
            "task": result._task.get_name().removeprefix("embermark : "),
            "status": status,
            "message": self._message(said),
            "out": said.get("stdout", ""),
            "probes": said.get("probes", []),
        }
        print(json.dumps(line), flush=True)

    @staticmethod
    def _message(said):
        """The line that says why: of a command its last, since Ansible's own words say nothing of it."""
        errors = said.get("stderr") or said.get("module_stderr") or ""
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        if lines:
            return lines[-1]
        words = said.get("msg")
        return words.strip().split("\n")[0] if isinstance(words, str) else ""

    def v2_runner_on_ok(self, result):
        self._say("ok", result)

    def v2_runner_on_failed(self, result, ignore_errors=False):
        if not ignore_errors:
            self._say("failed", result)

    def v2_runner_on_unreachable(self, result):
        self._say("unreachable", result)

    def v2_runner_retry(self, result):
        self._say("retry", result)
