"""Packets of one egress port leave in the order in which they were admitted, whatever delayed them."""

import random

from ptf_tests.lib import packets
from ptf_tests.lib.base_test import FabricTest
from ptf_tests.lib.eee import Eee, EeeTest
from ptf_tests.lib.packets import Ecn
from ptf_tests.lib.targets.base import SwitchOptions


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


class OrderIsKeptByTheGate(_Order, EeeTest):
    """Random arrivals over many sleeps, holds by timer and by trigger, and busy periods."""

    def runTest(self) -> None:
        self.eee(Eee(sleep=2_880, wake=4_480, hold=12_000, trigger_packets=10))
        source = random.Random(5)
        for frame in numbered(400, seed=5):
            self.send(1, frame)
            self.switch.advance(ns=source.choice((0, 0, 100, 2_000, 9_000, 40_000)))
        self.drain()
        self.assert_in_order(2, 400)
        self.assertGreater(
            self.register("wakes", 2), 20, "the port must have slept often for this case to mean much"
        )


class OrderIsKeptByRecirculation(OrderIsKeptByTheGate):
    options = SwitchOptions(gate=False)


class OrderIsKeptBetweenTwoRecirculatingPorts(_Order, EeeTest):
    """Packets of two holding ports recirculate together; each port keeps its own order and its own gate."""

    options = SwitchOptions(gate=False)

    def runTest(self) -> None:
        settings = Eee(sleep=2_880, wake=4_480, hold=50_000)
        self.eee(settings, port=2)
        self.eee(settings, port=3)
        for first, second in zip(numbered(60, seed=6), numbered(60, seed=7, to=3), strict=True):
            self.send(1, first, second)
            self.switch.advance(ns=300)
        self.drain()
        self.assert_in_order(2, 60)
        self.assert_in_order(3, 60)
