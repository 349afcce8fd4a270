"""A fabric in real time: switch processes on veth pairs, hosts in network namespaces. Needs Linux and root.

    plan      what to create: names, addresses, commands. Pure
    state     the file that records what this program has created, so that `down` removes only that
    network   namespaces and links, by iproute2 and ethtool
    switches  the processes: start, readiness, rates, end
    silence   hosts whose kernels send no packets while a trace is replayed
    running   the whole: up, watch, down

It is not a model of time: links have no delay of their own, and packets are late if the machine is too slow.
"""
