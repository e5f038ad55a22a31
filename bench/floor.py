"""What the machine can do at best: floors that the benchmarks are measured against, taken in the same run."""

import multiprocessing
import time
from typing import Final

import zmq

__all__ = ["bare_round_trip"]

QUESTION: Final = b"q" * 402  # bytes of a Train frame with 46 weights
ANSWER: Final = b"a" * 445  # bytes of an Update frame of one client


def bare_round_trip(processes: int = 10, rounds: int = 2000, answer: int = len(ANSWER)) -> float:
    """Seconds in which one ROUTER asks so many DEALER processes over tcp and has all answers: no codec, log or keys."""
    context = zmq.Context()
    router = context.socket(zmq.ROUTER)
    port = router.bind_to_random_port("tcp://127.0.0.1")
    spawn = multiprocessing.get_context("forkserver")
    echoes = [spawn.Process(target=_echo, args=(port, answer), daemon=True) for _ in range(processes)]
    for echo in echoes:
        echo.start()
    names = [router.recv_multipart()[0] for _ in echoes]
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(rounds // 3):
            for name in names:
                router.send_multipart((name, QUESTION))
            for _ in names:
                router.recv_multipart()
        best = min(best, (time.perf_counter() - began) / (rounds // 3))
    for name in names:
        router.send_multipart((name, b""))
    for echo in echoes:
        echo.join()
    router.close()
    context.term()
    return best


def _echo(port: int, size: int) -> None:
    """Answer every question until an empty one comes."""
    context = zmq.Context()
    dealer = context.socket(zmq.DEALER)
    dealer.connect(f"tcp://127.0.0.1:{port}")
    answer = b"a" * size
    dealer.send(answer)
    while dealer.recv():
        dealer.send(answer)
    dealer.close()
    context.term()
