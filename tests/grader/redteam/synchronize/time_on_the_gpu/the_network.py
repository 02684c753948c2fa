"""The hidden inputs are sent away, by every kind of socket."""

import socket


def time_on_the_gpu(work):
    work()
    for family, address in (
        (socket.AF_INET, ("127.0.0.1", 22)),
        (socket.AF_INET, ("192.0.2.1", 53)),
        (socket.AF_INET6, ("::1", 22)),
    ):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                with socket.socket(family, kind) as found:
                    found.settimeout(0.2)
                    found.connect(address)
                    raise RuntimeError("RED TEAM REACHED the network")
            except OSError:
                pass
    return 0.1
