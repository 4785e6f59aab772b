"""Runs a command on a device, without Python there: that takes seconds to start on a small one."""

from ansible.plugins.action import ActionBase

# Printed before the output of a command, because a login may print lines of its own.
BEGIN = "embermark begins"


class ActionModule(ActionBase):
    """Runs a line of the device's shell. Its standard input is a file of the role, if one is named."""

    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset(("line", "input"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = self._task.args
        # With an input, SSH allocates no terminal, which would change line ends.
        given = b"\n"
        if "input" in args:
            with open(self._find_needle("files", args["input"]), "rb") as file:
                given = file.read()
        output = self._low_level_execute_command(f"echo {BEGIN}; {args['line']}", in_data=given)
        result.update(rc=output["rc"], stdout=output["stdout"].rpartition(BEGIN + "\n")[2], stderr=output["stderr"])
        result.update(changed=True, failed=output["rc"] != 0)
        if result["failed"]:
            result["msg"] = f"it ended with status {output['rc']}"
        return result
