"""A program in Python as a part of an Oldham model ([process.NAME], framed protocol). Needs nothing but Python.

    from oldham_peer import serve

    class Spring:
        def start(self, t, inputs): ...             # outputs at the start; may be called again with other inputs
        def step(self, t, end, before, after): ...  # outputs at `end`; inputs at `t`, and as expected at `end`
        def outputs(self, t, inputs): ...           # only with `feedthrough = true`
        def save(self): ...                         # only if it can go back: anything that stands for its state
        def restore(self, saved): ...

    serve(Spring())
"""
import json, os, socket, struct

HELLO, START, STEP, OUTPUTS, KEEP, RETURN, BYE, VALUES, DONE, ERROR = 1, 2, 3, 4, 5, 6, 7, 16, 17, 18


def connect(address):
    kind, place = address.split(":", 1)
    if kind == "unix":
        stream = socket.socket(socket.AF_UNIX)
        stream.connect(place)
    else:
        host, port = place.rsplit(":", 1)
        stream = socket.create_connection((host, int(port)))
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return stream


def receive(stream, count):
    data = bytearray()
    while len(data) < count:
        more = stream.recv(count - len(data))
        if not more:
            raise ConnectionError("Oldham has closed the socket")
        data += more
    return bytes(data)


def serve(part, address=None):
    """Answers until Oldham says goodbye. `part.ports` is set to what the model says of inputs and outputs."""
    stream, saved = connect(address or os.environ["OLDHAM_SOCKET"]), {}
    can_return = hasattr(part, "save") and hasattr(part, "restore")
    while True:
        kind, length = struct.unpack("<II", receive(stream, 8))
        data = receive(stream, length)
        answer, text = DONE, b""
        try:
            numbers = struct.unpack(f"<{length // 8}d", data) if kind in (START, STEP, OUTPUTS) else ()
            if kind == HELLO:
                part.ports = json.loads(data)
                answer, text = HELLO, json.dumps({"oldham": 1, "states": can_return}).encode()
            elif kind == BYE:
                return
            elif kind in (KEEP, RETURN):
                key = struct.unpack("<Q", data)[0]
                if kind == KEEP:
                    saved[key] = part.save()
                else:
                    part.restore(saved[key])
            else:
                if kind == STEP:
                    half = (len(numbers) - 2) // 2
                    values = part.step(numbers[0], numbers[1], numbers[2:2 + half], numbers[2 + half:])
                else:
                    values = (part.start if kind == START else part.outputs)(numbers[0], numbers[1:])
                answer, text = VALUES, struct.pack(f"<{len(values)}d", *values)
        except Exception as error:  # Oldham tells it with the name of the part and the time.
            answer, text = ERROR, f"{type(error).__name__}: {error}".encode()
        stream.sendall(struct.pack("<II", answer, len(text)) + text)
