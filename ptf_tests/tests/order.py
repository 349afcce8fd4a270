"""Packets of one egress port leave in the order in which they were admitted."""

import random

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest
from ptf_tests.lib.packets import Ecn


def numbered(count: int, seed: int, to: int = 2) -> list[bytes]:
    """Returns frames of random sizes and classes from two senders, numbered by their TCP sequence number."""
    source = random.Random(seed)
    return [
        packets.data(
            to,
            size=source.randrange(80, 1515),
            ecn=source.choice((Ecn.NOT_ECT, Ecn.ECT0, Ecn.ECT1)),
            sport=source.randrange(1024, 60000),
            seq=number,
        )
        for number in range(count)
    ]


def numbers(frames: list[bytes]) -> list[int]:
    """Returns the numbers of frames made by `numbered`."""
    return [int.from_bytes(frame[38:42], "big") for frame in frames]


class _Order(FabricTest):
    def assert_in_order(self, port: int, count: int) -> None:
        """Checks that exactly packets 0 to `count` - 1 have left, in ascending order."""
        left = [departure.frame for departure in self.departures(port)]
        self.assertEqual(numbers(left), list(range(count)))


class OrderIsKeptInAQueue(_Order):
    def runTest(self) -> None:
        self.send(1, *numbered(200, seed=1))
        self.drain()
        self.assert_in_order(2, 200)


class OrderIsKeptBetweenIngressPorts(_Order):
    """Packets that arrive alternately at four ports leave in the order of arrival."""

    def runTest(self) -> None:
        if not self.switch.keeps_order_between_ports:
            self.skipTest(f"target {self.switch.name} takes frames of different ports in any order")
        for number, frame in enumerate(numbered(200, seed=2)):
            port = (1, 3, 4, 5)[number % 4]
            self.send(port, packets.arriving(frame, port))
        self.drain()
        self.assert_in_order(2, 200)
