"""The Store port on the ORM: guarded moves with their events, the engine's reads, and what people may wish for."""
