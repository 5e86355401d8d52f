// Who speaks on the bus needs the values that messages are made of.
@_exported import Values
