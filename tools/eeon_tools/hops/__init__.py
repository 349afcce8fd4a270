"""What happened to packets hop by hop: recorded by the engine, told in words, and written for Wireshark and
Perfetto.

`recording` asks a twin for its stream of hops and joins the events of one packet at one switch to a
`Visit`; `pcapng` and `perfetto` write it."""
