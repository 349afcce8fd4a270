"""The connected clients with their roles and rights, the primaries, and the queues of messages to clients."""
