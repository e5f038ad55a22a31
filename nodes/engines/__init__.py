"""How a run is acted out: by real processes over ZeroMQ, or inline in one process. The bits are the same."""
