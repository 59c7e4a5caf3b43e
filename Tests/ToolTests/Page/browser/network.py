# SPDX-License-Identifier: BSD-3-Clause
"""A network namespace at the other end of a bridge from which it can be taken.

It is there before the browsers and after them, because browsers end all requests at once when an interface gets or loses an
address or its carrier. So that the bridge keeps its carrier, it has a second pair of interfaces.
"""

import os
import shutil
import subprocess


class Network:
    """`problem` says why there is none."""

    def __init__(self):
        self.problem = None
        self.name = f"twk{os.getpid() % 100000}"
        net = f"10.213.{os.getpid() % 250}."
        self.address = net + "2"
        if not shutil.which("ip") or os.getuid() != 0:
            self.problem = "a network namespace needs root and ip"
            return
        name, within = self.name, ("-n", self.name)
        try:
            self.ip("netns", "add", name)
            self.ip("link", "add", name, "type", "bridge")
            self.ip("link", "add", name + "a", "type", "veth", "peer", "name", name + "b", "netns", name)
            self.ip("link", "add", name + "c", "type", "veth", "peer", "name", name + "d")
            for port in ("a", "c"):
                self.ip("link", "set", name + port, "master", name, "up")
            self.ip("link", "set", name + "d", "up")
            self.ip("addr", "add", net + "1/24", "dev", name)
            self.ip("link", "set", name, "up")
            self.ip(*within, "link", "set", "lo", "up")
            self.ip(*within, "link", "set", name + "b", "up")
            self.ip(*within, "addr", "add", self.address + "/24", "dev", name + "b")
        except subprocess.CalledProcessError as error:
            self.problem = f"there are no network namespaces here: {error.stderr.decode()}"

    def ip(self, *words, check=True):
        subprocess.run(["ip", *words], check=check, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def inside(self):
        """The beginning of a command that runs in the namespace."""
        return [shutil.which("ip"), "netns", "exec", self.name]

    def lose(self):
        self.ip("link", "set", self.name + "a", "nomaster")

    def deliver(self):
        self.ip("link", "set", self.name + "a", "master", self.name)

    def close(self):
        if os.getuid() != 0 or not shutil.which("ip"):
            return
        for words in (("netns", "del", self.name), ("link", "del", self.name + "c"), ("link", "del", self.name)):
            self.ip(*words, check=False)
