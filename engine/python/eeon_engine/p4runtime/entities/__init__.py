"""P4Runtime's entities, a module each: from messages to calls of the engine, and back."""
