"""A network between a browser and a system that is cut at moments which a test chooses."""

import re
import socket
import struct
import threading


class Network:
    """Carries connections to a system. A cut ends all of them, and refuses some of the next ones.

    `address` is where the browser connects to. `cuts` counts the cuts; `is_cut` is set from the one that `cut_at` asked for, and
    `request` is the one that it came at.
    """

    def __init__(self, target):
        host, _, port = target.partition(":")
        self.target = host, int(port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.sockets = set()
        self.cuts, self.is_cut, self.request = 0, threading.Event(), ""
        self.left, self.is_answered, self.refusals, self.refused = 0, False, 0, 0
        threading.Thread(target=self._listen, daemon=True).start()

    def cut_at(self, request, is_answered, refusals):
        """Cuts once at a request of the API from now on, 1 is the next one: before the system has it, or once its answer has begun.

        Then the next `refusals` connections are refused, unless `restore` comes before.
        """
        with self.lock:
            self.left, self.is_answered, self.refused = request, is_answered, refusals
            self.is_cut.clear()

    def restore(self):
        """Cuts no more, and refuses nothing."""
        with self.lock:
            self.left, self.refusals = 0, 0

    def close(self):
        # Closing alone does not wake the thread that accepts.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            self._end_all()

    def _listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                is_refused, self.refusals = self.refusals > 0, max(0, self.refusals - 1)
                try:
                    server = None if is_refused else socket.create_connection(self.target)
                except OSError:
                    server = None
                if server:
                    self.sockets |= {client, server}
            if not server:
                reset(client)
                continue
            connection = Connection(self, client, server)
            for work in (connection.ask, connection.answer):
                threading.Thread(target=work, daemon=True).start()

    def is_last(self):
        """Counts a request of the API: whether the network is cut at it."""
        with self.lock:
            self.left -= 1
            return self.left == 0

    def cut(self):
        with self.lock:
            self.cuts, self.refusals = self.cuts + 1, self.refused
            self._end_all()
        self.is_cut.set()

    def _end_all(self):
        for each in self.sockets:
            reset(each)
        self.sockets.clear()


class Connection:
    """Both directions of a connection, each in a thread of its own."""

    def __init__(self, network, client, server):
        self.network, self.client, self.server = network, client, server
        # Whether the answer that comes is the one to cut.
        self.is_doomed = False

    def ask(self):
        for data in received(self.client):
            # A file of the app is no request of the API.
            request = re.match(rb"([A-Z]+ /(?!app/)\S*) HTTP/1\.1\r\n", data)
            if request and self.network.is_last():
                self.network.request = request[1].decode()
                if not self.network.is_answered:
                    return self.network.cut()
                self.is_doomed = True
            send(self.server, data)
        reset(self.server)

    def answer(self):
        for data in received(self.server):
            if self.is_doomed:
                return self.network.cut()
            send(self.client, data)
        reset(self.client)


def received(connection):
    """What comes, until the other side or a cut ends it."""
    try:
        while data := connection.recv(65536):
            yield data
    except OSError:
        return


def send(connection, data):
    try:
        connection.sendall(data)
    except OSError:
        # Whoever ended it ends the other direction, too.
        pass


def reset(connection):
    """Ends a connection at once, with what is on its way."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # A thread that waits for data of it ends.
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    connection.close()
