"""A lasting P4Runtime session, which can bid repeatedly and listens as long as the switch is there."""

from collections.abc import AsyncIterator

from finsy import GRPCStatusCode, P4ClientError
from finsy.proto import U128, p4r, rpc_code

from eeon_control.controller.messages import ArbitrationStatus
from eeon_control.errors import FabricError
from eeon_control.fabric.session import P4RuntimeSession


class IdInUse(FabricError):
    """The switch closed the stream because another one has the same election id."""


class PersistentSession(P4RuntimeSession):
    """A `P4RuntimeSession` without the single arbitration at its start. Every method raises FabricError."""

    async def open(self) -> None:
        """Opens the channel, and sends a request, which fails at once if the switch is unreachable."""
        await self.__aenter__()
        await self.has_pipeline()

    @property
    def has_stream(self) -> bool:
        """Whether a first bid has opened the stream."""
        return self._election_id is not None

    async def close(self) -> None:
        """Closes the stream and the channel; pending requests fail."""
        await self.__aexit__(None, None, None)

    async def bid(self, election_id: int) -> None:
        """Sends a bid with an election id. `listen` yields the switch's answer."""
        self._election_id = election_id
        try:
            await self._client.send(self._arbitration(election_id))
        except P4ClientError as error:
            raise await self._stream_error(error) from None

    async def listen(self) -> AsyncIterator[tuple[ArbitrationStatus, int]]:
        """Yields the switch's reports about the primary, until the stream ends, which raises FabricError.

        Call it after the first bid, which opens the stream.
        """
        while True:
            try:
                message = await self._client.receive()
            except P4ClientError as error:
                raise await self._stream_error(error) from None
            except RuntimeError:  # finsy's report that the server closed the stream
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
