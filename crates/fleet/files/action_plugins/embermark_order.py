"""Hands an order to a device's client process, and asks for the device's clock, for `embermark fleet run --clients-of`."""

import json
import os
import subprocess
import time

from ansible.plugins.action import ActionBase

# With the device's name the variable that its order is in: the word of its command and its standard input.
ORDER = "EMBERMARK_ORDER_"


class ActionModule(ActionBase):
    """The clock first, where it is asked for, then the order."""

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
        # The home may begin with a ~, which the shell there knows.
        command = (
            f"cd {args['home']} && home=$PWD && cd plans/{args['plan']}"
            f' && exec "$home/package/bin/embermark" client-machine {order["command"]} "$home/clients"'
        )
        said = self._low_level_execute_command(command, in_data=order["input"].encode())
        result.update({key: said[key] for key in ("rc", "stdout", "stderr")})
        if said["rc"] != 0:
            result.update(failed=True, msg=f"its client process ended with status {said['rc']}")
        return result

    def _probes(self, count):
        """So many triples of ns: sent here, told there, received here."""
        if count == 0:
            return []
        try:
            return self._in_one_session(count)
        except (AttributeError, OSError, ValueError, TypeError):
            return [self._by_command() for _ in range(count)]

    def _in_one_session(self, count):
        """Over one session of SSH, so that a round trip is one of the network and no login."""
        connection = self._connection
        if getattr(connection, "sshpass_pipe", None):
            raise ValueError("a password is asked for")
        # Opens the connection that sessions share.
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
        told = session.stdout.readline()
        return [sent, int(told), time.time_ns()]

    def _by_command(self):
        sent = time.time_ns()
        _, told, _ = self._connection.exec_command("date +%s%N", in_data=b"\n", sudoable=False)
        received = time.time_ns()
        return [sent, int(told.split()[-1]), received]
