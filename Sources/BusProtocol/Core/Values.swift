// Messages are made of these values, so every importer of the bus needs them.
@_exported import Values
