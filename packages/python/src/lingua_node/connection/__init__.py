"""The connection to the scheduler: sockets, registration, reconnecting."""
