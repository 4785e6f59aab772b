"""Passes orders to a device's client process and reads the device's clock: `embermark fleet run --clients-of`."""

import json
import os
import shlex
import signal
import socket
import subprocess
import time

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase

# Variable with the path of embermark's socket. Each line from there is an order: a command, its input, and how often
# the clock is read before. Each has one line as its answer.
SOCKET = "EMBERMARK_ORDERS"


class OutOfTime(BaseException):
    """An order took too long."""


class ActionModule(ActionBase):
    """Takes orders for its device until there are no more."""

    TRANSFERS_FILES = False
    _VALID_ARGS = frozenset(("home", "plan", "timeout"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        result["changed"] = False
        path = os.environ.get(SOCKET)
        if path is None:
            return result
        with socket.socket(socket.AF_UNIX) as embermark:
            embermark.connect(path)
            _say(embermark, {"device": task_vars["inventory_hostname"]})
            with embermark.makefile(encoding="utf-8") as orders:
                for order in orders:
                    _say(embermark, self._answer(json.loads(order)))
        return result

    def _answer(self, order):
        seconds = int(self._task.args.get("timeout", 0))
        before = signal.signal(signal.SIGALRM, _out_of_time)
        # No time limit with 0.
        signal.alarm(seconds)
        try:
            return self._pass(order)
        except OutOfTime:
            return _failure(f"it took longer than {seconds} s")
        except AnsibleConnectionFailure as error:
            return _failure(str(error), "unreachable")
        except Exception as error:  # pylint: disable=broad-except
            return _failure(str(error))
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def _pass(self, order):
        """Reads the clock, if requested, and then passes the order."""
        answer = {"status": "ok", "message": "", "out": "", "probes": self._probes(order["probes"])}
        if order["command"] is None:
            return answer
        args = self._task.args
        # The home is a word of the shell on the device, which expands a ~ at its beginning.
        command = (
            f"cd {args['home']} && home=$PWD && cd plans/{shlex.quote(args['plan'])}"
            f' && exec "$home/package/bin/embermark" client-machine {order["command"]} "$home/clients"'
        )
        output = self._low_level_execute_command(command, in_data=order["input"].encode())
        answer["out"] = output["stdout"]
        if output["rc"] != 0:
            lines = [line.strip() for line in output["stderr"].splitlines() if line.strip()]
            ended = f"its client process ended with status {output['rc']}"
            answer.update(status="failed", message=lines[-1] if lines else ended)
        return answer

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


def _out_of_time(_signal, _frame):
    raise OutOfTime


def _failure(message, status="failed"):
    return {"status": status, "message": message.strip().split("\n")[0], "out": "", "probes": []}


def _say(embermark, what):
    embermark.sendall(json.dumps(what).encode() + b"\n")
