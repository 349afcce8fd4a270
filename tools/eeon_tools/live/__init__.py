"""A fabric in real time: switch processes on veth pairs, hosts in network namespaces. Linux and root.

    plan      what there is to make: names, addresses, commands. Pure
    state     the file that says what this program has made, so that `down` removes that and nothing else
    network   namespaces and links, by iproute2 and ethtool
    switches  the processes: start, readiness, rates, end
    silence   hosts that say nothing of their own while a trace is replayed
    running   all of it together: up, watch, down

Not a model of time: links have no delay of their own, and what the computer cannot do in time is late.
"""
