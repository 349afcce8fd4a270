"""gRPC: sockets, threads, TLS, limits on time and number; every call ends in a method of `Service`."""
