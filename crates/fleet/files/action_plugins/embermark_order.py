"""Passes an order to a device's client process and reads the device's clock: `embermark fleet run --clients-of`."""

import json
import os
import shlex
import subprocess
import time

from ansible.plugins.action import ActionBase

# Prefix of the variable with a device's order, followed by the device's name. The order has a command and its input.
ORDER = "EMBERMARK_ORDER_"


class ActionModule(ActionBase):
    """Reads the clock, if requested, and then passes the order."""

    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset(("home", "plan", "probes"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        device = task_vars["inventory_hostname"]
        args = self._task.args
        order = json.loads(os.environ.get(ORDER + device, "null"))
        result["changed"] = False
        result["probes"] = self._probes(int(args.get("probes", 0)))
        if order is None:
            return result
        # The home is a word of the shell on the device, which expands a ~ at its beginning.
        command = (
            f"cd {args['home']} && home=$PWD && cd plans/{shlex.quote(args['plan'])}"
            f' && exec "$home/package/bin/embermark" client-machine {order["command"]} "$home/clients"'
        )
        output = self._low_level_execute_command(command, in_data=order["input"].encode())
        result.update({key: output[key] for key in ("rc", "stdout", "stderr")})
        if output["rc"] != 0:
            result.update(failed=True, msg=f"its client process ended with status {output['rc']}")
        return result

    def _probes(self, count):
        """Returns `count` triples of ns: request sent, clock of the device, answer received."""
        if count == 0:
            return []
        try:
            return self._in_one_session(count)
        except (AttributeError, OSError, ValueError, TypeError):
            return [self._by_command() for _ in range(count)]

    def _in_one_session(self, count):
        """Uses one SSH session, so that a round trip includes no login."""
        connection = self._connection
        if getattr(connection, "sshpass_pipe", None):
            raise ValueError("SSH asks for a password")
        # Opens the connection that all sessions share.
        connection.exec_command("true", in_data=b"\n", sudoable=False)
        loop = "while read -r line; do date +%s%N; done"
        command = connection._build_command(connection.get_option("ssh_executable"), "ssh", connection.host, loop)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, bufsize=0, **pipes) as session:
            try:
                return [self._round_trip(session) for _ in range(count + 1)][1:]
            finally:
                session.stdin.close()
                session.kill()

    @staticmethod
    def _round_trip(session):
        sent = time.time_ns()
        session.stdin.write(b"\n")
        clock = session.stdout.readline()
        return [sent, int(clock), time.time_ns()]

    def _by_command(self):
        sent = time.time_ns()
        _, clock, _ = self._connection.exec_command("date +%s%N", in_data=b"\n", sudoable=False)
        received = time.time_ns()
        return [sent, int(clock.split()[-1]), received]
