"""What a program talks to: the socket, the session, the context with its buffers and modules."""
