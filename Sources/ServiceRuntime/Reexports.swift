// A service's runtime consists of the runtime of a process and the database.
@_exported import ProcessRuntime
