"""The conversation: messages, machines, the log's schema. I/O only in `journal` and `transport`."""
