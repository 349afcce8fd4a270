"""A gNMI client for tests, with plain messages, so that every field of a request can be chosen."""

import threading
from collections.abc import Iterator
from typing import Any

import grpc
from finsy import GNMIPath
from finsy.proto import gnmi, gnmi_grpc

SECONDS = 60.0


def path(text: str) -> gnmi.Path:
    """Parses a path such as `interfaces/interface[name=*]/state`."""
    return GNMIPath(text).path if text else gnmi.Path()


def text(message: gnmi.Path) -> str:
    keys = lambda elem: "".join(f"[{key}={value}]" for key, value in elem.key.items())  # noqa: E731
    return "/".join(elem.name + keys(elem) for elem in message.elem)


def plain(value: gnmi.TypedValue) -> Any:
    return getattr(value, value.WhichOneof("value"))


def updates(notification: gnmi.Notification) -> dict[str, Any]:
    return {text(one.path): plain(one.val) for one in notification.update}


class GnmiClient:
    def __init__(self, address: str, credentials: grpc.ChannelCredentials | None = None) -> None:
        options = [("grpc.use_local_subchannel_pool", 1)]
        self.channel = (
            grpc.insecure_channel(address, options=options)
            if credentials is None
            else grpc.secure_channel(address, credentials, options=options)
        )
        self._closing = threading.Event()
        self.stub: Any = gnmi_grpc.gNMIStub(self.channel)

    def close(self) -> None:
        # gRPC uses one thread for the requests of each call.
        self._closing.set()
        self.channel.close()

    def get(self, *paths: str) -> list[gnmi.Notification]:
        request = gnmi.GetRequest(path=[path(one) for one in paths], encoding=gnmi.PROTO)
        return list(self.stub.Get(request, timeout=SECONDS).notification)

    def subscribe(self, *requests: gnmi.SubscribeRequest, timeout: float = SECONDS) -> Any:
        """Starts the call. Like a streaming client, it does not end its requests."""
        return self.stub.Subscribe(self._unended(requests), timeout=timeout)

    def _unended(self, requests: tuple[gnmi.SubscribeRequest, ...]) -> Iterator[gnmi.SubscribeRequest]:
        yield from requests
        self._closing.wait()


def subscription(text: str, mode: int = gnmi.TARGET_DEFINED, **fields: int) -> gnmi.Subscription:
    return gnmi.Subscription(path=path(text), mode=mode, **fields)


def request(
    *subscriptions: gnmi.Subscription, mode: int = gnmi.SubscriptionList.STREAM
) -> gnmi.SubscribeRequest:
    asked = gnmi.SubscriptionList(subscription=subscriptions, mode=mode, encoding=gnmi.PROTO)
    return gnmi.SubscribeRequest(subscribe=asked)


def until_sync(call: Any) -> dict[str, Any]:
    """Returns the leaves up to the sync_response."""
    found: dict[str, Any] = {}
    for response in call:
        if response.sync_response:
            return found
        found |= updates(response.update)
    raise AssertionError("the call has ended before its sync_response")
