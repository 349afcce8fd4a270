"""A session of pygnmi, run by `test_gnmi_pygnmi` in a separate process, because pygnmi and finsy both bring
gNMI's messages, and a process can load only one of them. Not a test. Arguments: address, and for TLS the
files of authority, certificate and key. Each line `saw ...` that it prints has a JSON value that pygnmi
received. pygnmi also prints errors.
"""

import json
import sys

from pygnmi.client import gNMIclient, gNMIException

STATUS = "openconfig-interfaces:interfaces/interface[name=port2]/state/oper-status"


def say(value):
    print(f"saw {json.dumps(value)}", flush=True)


def stream(path, **mode):
    return {"subscription": [{"path": path, **mode}], "mode": "stream", "encoding": "json"}


def main(address, *tls):
    host, _, port = address.rpartition(":")
    how = dict(zip(("path_root", "path_cert", "path_key"), tls, strict=False)) if tls else {"insecure": True}
    with gNMIclient(target=(host, int(port)), gnmi_timeout=60, **how) as client:
        say([model["name"] for model in client.capabilities()["supported_models"]])
        found = client.get(path=["openconfig-interfaces:interfaces/interface"], encoding="json_ietf")
        say([update["val"] for update in found["notification"][0]["update"]])
        try:
            client.set(delete=["interfaces"])
        except gNMIException as error:
            say(str(error))
        changes = client.subscribe_stream(subscribe=stream(STATUS, mode="on_change"))
        for response in changes:
            if "update" in response:
                # After the first value, the test changes the link.
                say([update["val"] for update in response["update"]["update"]])
                if response["update"]["update"][0]["val"] == "DOWN":
                    break
        changes.close()


main(*sys.argv[1:])
