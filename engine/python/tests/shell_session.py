"""A session of p4runtime-shell, run by `test_p4rt_shell` with a separate Python: the shell needs an older
protobuf than finsy. Not a test. Arguments: address, P4Info, program. Each line that it prints is one JSON
value that the shell received. Before it waits for the switch, it prints the name of the line, and the test
makes the switch act.
"""

import json
import os
import sys

import p4runtime_sh.shell as sh
from p4runtime_sh.p4runtime import P4RuntimeException, P4RuntimeWriteException

TABLE = "ResourcesIngress.metered_table"


def say(value):
    print(json.dumps(value), flush=True)


def entry(key, port):
    made = sh.TableEntry(TABLE)(action="ResourcesIngress.metered")
    made.match["value"] = str(key)
    made.action["port"] = str(port)
    return made


def session(address, info, program):
    config = sh.FwdPipeConfig(info, program)
    sh.setup(device_id=1, grpc_addr=address, election_id=(0, 1), config=config, verbose=False)
    say(sh.APIVersion())

    entry(9, 4).insert()
    entry(9, 5).modify()
    try:
        entry(9, 4).insert()
    except P4RuntimeWriteException as error:
        say(str(error))
    say(len(list(sh.TableEntry(TABLE).read())))

    meter = sh.MeterEntry("ResourcesIngress.cells")
    meter.index, meter.cir, meter.cburst, meter.pir, meter.pburst = 1, 1, 2, 3, 4
    meter.modify()
    say([cell.cir for cell in sh.MeterEntry("ResourcesIngress.cells").read()])

    counter = sh.DirectCounterEntry("ResourcesIngress.entry_counter")
    counter.table_entry.match["value"] = "9"
    counter.packet_count = 7
    counter.modify()
    say([cell.packet_count for cell in counter.read()])

    sh.MulticastGroupEntry(1).add(1, 1).add(2, 2).insert()
    sh.CloneSessionEntry(5).add(3, 1).insert()
    say(len(list(sh.MulticastGroupEntry().read())) + len(list(sh.CloneSessionEntry().read())))

    digest = sh.DigestEntry("learned_t")
    digest.max_list_size = 1
    digest.insert()
    route = sh.TableEntry("ResourcesIngress.routes")(action="ResourcesIngress.learn")
    route.match["value"] = "1.0.0.0/8"
    route.insert()
    lists = sh.DigestList()
    say("digest")
    say(len(list(lists.sniff(timeout=3))))

    to_cpu = sh.TableEntry("ResourcesIngress.routes")(action="ResourcesIngress.to_cpu")
    to_cpu.match["value"] = "2.0.0.0/8"
    to_cpu.insert()
    packets = sh.PacketIn()
    say("packet")
    say([len(message.packet.payload) for message in packets.sniff(timeout=3)])

    sh.PacketOut(payload=b"x" * 40, egress_port="3").send()
    entry(9, 4).delete()
    say(len(list(sh.TableEntry(TABLE).read())))


if __name__ == "__main__":
    try:
        session(*sys.argv[1:])
    except (P4RuntimeException, sh.UserError) as error:
        say(f"{type(error).__name__}: {error}")
    # The shell leaves threads that wait for its stream.
    sys.stdout.flush()
    os._exit(0)
