"""The commands, by what people do with them. Each parses, calls one library function, renders."""
