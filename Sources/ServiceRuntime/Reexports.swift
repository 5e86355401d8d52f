// A service's runtime is that of a process, and the database.
@_exported import ProcessRuntime
