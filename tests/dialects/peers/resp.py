"""A small Redis client for the peers: RESP2 over a Unix socket or a port of this machine.

Written from the public description of RESP2.
"""

import socket
import threading
import time


class ReplyError(Exception):
    """An error reply of the server."""


class Connection:
    """One connection, which makes one call at a time. A call that blocks in the server needs its own connection."""

    def __init__(self, address):
        self._address = address  # the path of a Unix socket, or the digits of a port
        self._turn = threading.Lock()
        self._socket = self._stream = None

    def call(self, *words):
        with self._turn:
            try:
                self.send(*words)
                return self.receive()
            except OSError:
                self.close()  # a part of the reply may still arrive: the next call makes a new connection
                raise

    def eval(self, script, keys, arguments):
        return self.call("EVAL", script, len(keys), *keys, *arguments)

    def send(self, *words):
        if self._socket is None:
            self._connect()
        encoded = [str(word).encode("utf-8", "surrogateescape") for word in words]
        self._socket.sendall(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in encoded))

    def receive(self):
        line = self._stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server hung up")
        kind, rest = line[:1], line[1:-2].decode("utf-8", "surrogateescape")
        if kind == b"+":
            return rest
        if kind == b"-":
            raise ReplyError(rest)
        if kind == b":":
            return int(rest)
        if int(rest) < 0:
            return None
        if kind == b"*":
            return [self.receive() for _ in range(int(rest))]
        data = self._stream.read(int(rest) + 2)
        if len(data) != int(rest) + 2:
            raise ConnectionError("the server hung up")
        return data[:-2].decode("utf-8", "surrogateescape")

    def close(self):
        if self._socket is not None:
            self._stream.close()
            self._socket.close()
            self._socket = self._stream = None

    def _connect(self):
        if self._address.isdigit():
            self._socket = socket.create_connection(("127.0.0.1", int(self._address)))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        else:
            self._socket = socket.socket(socket.AF_UNIX)
            try:
                self._socket.connect(self._address)
            except OSError:
                self._socket.close()
                self._socket = None
                raise
        self._stream = self._socket.makefile("rb")


class Subscriber:
    """Receives the messages of one channel on its own thread. It is subscribed when the constructor returns."""

    def __init__(self, address, channel, on_message):
        self._connection = Connection(address)
        self._channel = channel
        self._on_message = on_message
        self._subscribe()
        threading.Thread(target=self._listen, daemon=True).start()

    def _subscribe(self):
        self._connection.send("SUBSCRIBE", self._channel)
        self._connection.receive()

    def _listen(self):
        lost = False
        while True:
            try:
                if lost:
                    self._subscribe()
                    lost = False
                kind, _, message = self._connection.receive()
                if kind == "message":
                    self._on_message(message)
            except OSError:
                # Messages that are published meanwhile are lost.
                self._connection.close()
                lost = True
                time.sleep(0.1)
