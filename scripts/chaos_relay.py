"""A relay between two sides of a connection, which does to the bytes what a bad network does."""

import os
import random
import socket
import threading
import time

from cut_network import received, reset, send

# How long a delayed piece waits, in seconds, at least and at most.
DELAY = 0.005, 0.15
# The first of so many pieces, in the mean, is changed or ends its connection.
SOME = 8


class Relay:
    """Carries the connections of a listener on. `behave` says how, for those that are there and those that come."""

    def __init__(self, listener, connect):
        self.listener, self.connect = listener, connect
        # How many pieces are left alone before the next one that is changed.
        self.mode, self.chance, self.skipped = "pass", random.Random(), 0
        # How many pieces were carried, and how many of them were held, dropped or changed.
        self.carried = self.touched = 0
        self.moves = threading.Event()
        self.moves.set()
        self.lock, self.sockets = threading.Lock(), set()
        threading.Thread(target=self._listen, daemon=True).start()

    def behave(self, mode, seed=0):
        """`pass`, `delay`, `stall`, `reset`, `flip`, or `half-open`, where answers are lost.

        A connection that lost bytes ends when they pass again.
        """
        with self.lock:
            has_lost = self.mode in ("half-open", "flip")
            self.mode, self.chance, self.skipped = mode, random.Random(seed), 0
        if mode == "reset" or has_lost:
            self._end_all()
        if mode == "stall":
            self.moves.clear()
        else:
            self.moves.set()

    def close(self):
        """Ends the listener and all connections."""
        self.behave("pass")
        # Closing alone does not wake the thread that accepts.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self._end_all()

    def _listen(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = self.connect()
            except OSError:
                reset(near)
                continue
            with self.lock:
                self.sockets |= {near, far}
            for source, target, is_answer in ((near, far, False), (far, near, True)):
                threading.Thread(target=self._carry, args=(source, target, is_answer), daemon=True).start()

    def _carry(self, source, target, is_answer):
        for data in received(source):
            with self.lock:
                mode, is_chosen, wait = self.mode, self.skipped == 0, self.chance.uniform(*DELAY)
                self.skipped = self.chance.randrange(2 * SOME) if is_chosen else self.skipped - 1
                self.carried += 1
                self.touched += mode in ("delay", "stall") or (is_answer if mode == "half-open" else mode != "pass" and is_chosen)
            self.moves.wait()
            if mode == "delay":
                time.sleep(wait)
            elif mode == "half-open" and is_answer:
                continue
            elif mode == "reset" and is_chosen:
                break
            elif mode == "flip" and is_chosen:
                place = self.chance.randrange(len(data))
                data = data[:place] + bytes([data[place] ^ 1 << self.chance.randrange(8)]) + data[place + 1:]
            send(target, data)
        with self.lock:
            self.sockets -= {source, target}
        reset(source)
        reset(target)

    def _end_all(self):
        with self.lock:
            for each in self.sockets:
                reset(each)
            self.sockets.clear()


def before_gateway(port):
    """A relay to the gateway, and the port where it listens."""
    listener = socket.create_server(("127.0.0.1", 0))
    return Relay(listener, lambda: socket.create_connection(("127.0.0.1", port))), listener.getsockname()[1]


def before_replica(path, moved):
    """A relay at the path of a replica's socket, which goes on under another one."""
    os.rename(path, moved)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o660)
    listener.listen(64)

    def connect():
        far = socket.socket(socket.AF_UNIX)
        far.connect(moved)
        return far
    return Relay(listener, connect)


def leave_replica(relay, path, moved):
    """Gives the path back to the replica, if it still listens."""
    try:
        os.rename(moved, path)
    except FileNotFoundError:
        pass
    relay.close()
