"""Fetches a text file from a device.

Before ansible-core 2.16.10 its own `fetch` takes no path with spaces from a device without an SFTP server. It also
writes the file in place, so that a play that is interrupted leaves a part of it.
"""

import os

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    """Copies a file of the device, given as a word of its shell, to a path on this machine: whole, or not at all."""

    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset(("source", "dest", "required"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        args = self._task.args
        result["changed"] = False
        # With an input, SSH allocates no terminal, which would change line ends.
        output = self._low_level_execute_command(f"cat {args['source']}", in_data=b"\n")
        if output["rc"] != 0:
            if args.get("required", True):
                result.update(failed=True, msg=f"{args['source']} cannot be read", stderr=output["stderr"])
            return result
        dest = self._loader.path_dwim(args["dest"])
        os.makedirs(os.path.dirname(dest), exist_ok=True)
        # Ansible decoded the bytes in this way.
        with open(dest + ".new", "wb") as file:
            file.write(output["stdout"].encode("utf-8", "surrogateescape"))
        os.replace(dest + ".new", dest)
        result["changed"] = True
        return result
