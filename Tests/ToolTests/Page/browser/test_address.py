# SPDX-License-Identifier: BSD-3-Clause
"""Tests of pages that browsers reach through a reverse proxy or a forwarded port."""

import socket
import threading
import unittest

from support import World, wait_until
from test_rows import NUMBERS

KEY = NUMBERS + "Stiffness"


class Forwarder:
    """A port that leads to another one, as that of `ssh -L`, or as that of a reverse proxy if the head of requests is edited."""

    def __init__(self, target, edit=None):
        self.target, self.edit = target, edit
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self.target)) as server:
            data = b""
            if self.edit:
                while b"\r\n\r\n" not in data:
                    part = client.recv(1 << 16)
                    if not part:
                        return
                    data += part
                head, rest = data.split(b"\r\n\r\n", 1)
                lines = self.edit(head.decode("latin-1")).split("\r\n")
                # A connection has one request, because only the first is edited.
                lines = [line for line in lines if not line.lower().startswith("connection:")] + ["Connection: close"]
                data = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + rest
            server.sendall(data)
            back = threading.Thread(target=self.relay, args=(server, client), daemon=True)
            back.start()
            self.relay(client, server)
            back.join()

    @staticmethod
    def relay(source, target):
        try:
            while part := source.recv(1 << 16):
                target.sendall(part)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Address(unittest.TestCase):
    """One browser, for which all names below localhost lead to this machine."""

    def setUp(self):
        self.world = World("address")
        self.addCleanup(self.world.close)
        self.control = self.world.control(self.world.start_page_program())

    def forward(self, edit=None):
        forwarder = Forwarder(self.world.port, edit)
        self.addCleanup(forwarder.close)
        return forwarder.port

    def check(self, place):
        """Expects that the page works at this address."""
        browser = self.world.browser(f"http://{place}#{self.world.address.split('#')[1]}&program=page-program")
        browser.connected()
        self.assertEqual(browser.script("return location.host + location.pathname"), place)
        browser.row(KEY)
        self.control.set(KEY, 222)
        wait_until(lambda: browser.field(KEY).get_attribute("value") == "222", "the page does not follow the program")
        browser.type(browser.field(KEY), "333")
        wait_until(lambda: self.control.value(KEY) == 333, "the page sets nothing")
        # A reload and a link use the session, which is that of this path.
        browser.driver.refresh()
        browser.connected()
        wait_until(lambda: browser.field(KEY).get_attribute("value") == "333", "a reloaded page does not work")
        self.assertTrue(browser.script("return performance.getEntriesByType('resource').every(({name}) => name.startsWith(new URL('.', location).href))"))
        self.assertEqual(browser.problems(), [], "the browser reported errors")
        return browser

    def test_a_page_works_at_a_forwarded_port_with_another_number(self):
        self.world.start_ui()
        port = self.forward()
        self.assertNotEqual(port, self.world.port)
        self.check(f"localhost:{port}/")

    def test_a_page_works_below_a_path_of_a_reverse_proxy(self):
        self.world.start_ui("--name", "tools.localhost", "--path", "/a/tweaks/")
        port = self.forward(lambda head: head)
        browser = self.check(f"tools.localhost:{port}/a/tweaks/")
        browser.driver.get("about:blank")
        browser.open(f"http://tools.localhost:{port}/a/tweaks")
        browser.connected()
        self.assertTrue(browser.driver.current_url.startswith(f"http://tools.localhost:{port}/a/tweaks/"))

    def test_a_page_works_behind_a_reverse_proxy_that_removes_the_path_and_the_name(self):
        def edit(head):
            lines = head.replace(" /tweaks/", " /", 1).split("\r\n")
            return "\r\n".join(f"Host: 127.0.0.1:{self.world.port}" if line.lower().startswith("host:") else line for line in lines)

        listener = Forwarder(0, edit)
        self.addCleanup(listener.close)
        self.world.start_ui("--name", f"tools.localhost:{listener.port}")
        listener.target = self.world.port
        self.check(f"tools.localhost:{listener.port}/tweaks/")

    def test_a_refused_page_says_why_and_what_to_do(self):
        self.world.start_ui("--path", "/tweaks/")
        browser = self.world.browser(self.world.address)
        for address, words in (
            (f"http://evil.localhost:{self.world.port}/tweaks/", "restart tweak ui with --name evil.localhost."),
            (f"http://localhost:{self.world.port}/", "The page is at /tweaks/."),
            (f"http://localhost:{self.world.port}/tweaks/api/events", "open the address that tweak ui printed"),
        ):
            browser.driver.get(address)
            self.assertEqual(browser.text("h1"), "Cannot show this page")
            self.assertIn(words, browser.text("body"))


if __name__ == "__main__":
    unittest.main()
