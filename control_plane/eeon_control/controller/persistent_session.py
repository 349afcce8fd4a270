"""A P4Runtime session that lasts: bid on again and listened to for as long as the switch is there."""

from __future__ import annotations

from collections.abc import AsyncIterator

from finsy import GRPCStatusCode, P4ClientError
from finsy.proto import U128, p4r, rpc_code

from eeon_control.controller.messages import ArbitrationStatus
from eeon_control.errors import FabricError
from eeon_control.fabric.session import P4RuntimeSession


class IdInUse(FabricError):
    """The switch closed the stream because another one has the election id that was bid."""


class PersistentSession(P4RuntimeSession):
    """`P4RuntimeSession`, without its one arbitration at the beginning. Every method raises FabricError."""

    async def open(self) -> None:
        """Opens the channel, and asks the switch something, which fails at once where it cannot be
        reached."""
        await self.__aenter__()
        await self.has_pipeline()

    @property
    def has_stream(self) -> bool:
        """Whether the stream was opened, by a first bid."""
        return self._election_id is not None

    async def close(self) -> None:
        """Ends the stream and the channel; requests under way fail."""
        await self.__aexit__(None, None, None)

    async def bid(self, election_id: int) -> None:
        """Asks to be primary with an election id. What the switch says to it comes from `listen`."""
        self._election_id = election_id
        try:
            await self._client.send(self._arbitration(election_id))
        except P4ClientError as error:
            raise await self._stream_error(error) from None

    async def listen(self) -> AsyncIterator[tuple[ArbitrationStatus, int]]:
        """Yields what the switch says about who is primary, until the stream ends, which is an error.

        Begin after the first bid, which opens the stream.
        """
        while True:
            try:
                message = await self._client.receive()
            except P4ClientError as error:
                raise await self._stream_error(error) from None
            except RuntimeError:  # how finsy reports that the server closed the stream
                raise self._error("closed the stream (UNAVAILABLE)", GRPCStatusCode.UNAVAILABLE) from None
            if message.HasField("arbitration"):
                yield _role(message.arbitration), U128.decode(message.arbitration.election_id)

    async def _stream_error(self, error: P4ClientError) -> FabricError:
        told = await self._failure(error)
        return IdInUse(str(told), told.code) if error.is_election_id_used else told


def _role(update: p4r.MasterArbitrationUpdate) -> ArbitrationStatus:
    if update.status.code == rpc_code.OK:
        return ArbitrationStatus.PRIMARY
    return ArbitrationStatus.NOBODY if update.status.code == rpc_code.NOT_FOUND else ArbitrationStatus.OTHER
