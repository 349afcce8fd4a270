"""Who is connected, under which role and with which rights; who is primary; what waits to be sent to whom."""
