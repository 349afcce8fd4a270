"""gRPC: sockets, threads, TLS, limits of time and number; every call ends in a method of `Service`."""
