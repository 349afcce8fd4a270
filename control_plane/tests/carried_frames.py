"""Engine switches behind P4Runtime servers, and frames that are carried from one to the next by hand."""

from eeon_control.fabric.read import Wanted, observe
from eeon_control.fabric.sync import run
from engine_switches import serving

FLOW_GAP_PS = 10**9


class Running:
    """The engine's switches of a topology, and frames that are carried from one to the next by hand."""

    def __init__(self, topo, stack) -> None:
        self.topology = topo
        self.now_ps = 0
        self.switches, self.targets = stack.enter_context(serving(topo))

    def tables(self):
        observed = run(observe(self.topology, self.targets, Wanted(routes=True)))
        assert not observed.failures
        return {name: one.routes for name, one in observed.switches.items()}

    def ports_taken(self, source, frame: bytes) -> list[str]:
        """Returns the egress ports of a host's frame, until it leaves the fabric or is dropped."""
        self.now_ps += FLOW_GAP_PS
        at, taken = source.port.peer, []
        while at.node in self.switches:
            switch = self.switches[at.node]
            switch.advance_to(self.now_ps - 1)
            switch.inject(at.port, frame, self.now_ps)
            sent = switch.advance_to(self.now_ps + FLOW_GAP_PS // 2)
            if not sent:
                return taken  # dropped
            [(_, port, frame)] = sent
            taken.append(f"{at.node}:{port}")
            at = self.topology.port(taken[-1]).peer
        return taken
