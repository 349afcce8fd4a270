"""The events of packets hop by hop: recorded by the engine, described in words, and written for Wireshark and
Perfetto.

`recording` requests the stream of hops from a twin and joins the events of one packet at one switch to a
`Visit`; `pcapng` and `perfetto` write it."""
