import Foundation

/// Starts programs with `posix_spawn`.
///
/// Foundation's `Process` waits until every process that inherited its pipes ends. A database server in the background
/// is one of them.
enum Subprocess {
    /// - Parameters:
    ///   - environment: the whole environment; the program inherits nothing.
    ///   - output: the file to which standard output and standard error are appended.
    ///   - newSession: whether to start a new session, which the terminal's Ctrl-C does not reach.
    static func start(
        _ arguments: [String], environment: [String: String], output: String, newSession: Bool
    ) throws -> pid_t {
        let descriptor = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("\(output) cannot be written", code: 73) }
        defer { close(descriptor) }
        return try start(arguments, environment: environment, input: nil, output: descriptor, newSession: newSession)
    }

    private static func start(
        _ arguments: [String], environment: [String: String], input: Int32?, output: Int32, newSession: Bool
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        for stream in [Int32(1), 2] { posix_spawn_file_actions_adddup2(&actions, output, stream) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The supervisor blocks the signals that it waits for. Its children must not inherit the block.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var flags = Int16(POSIX_SPAWN_SETSIGMASK)
        if newSession {
            posix_spawnattr_setpgroup(&attributes, 0)
            flags |= Int16(POSIX_SPAWN_SETPGROUP)
        }
        posix_spawnattr_setflags(&attributes, flags)
        var words = arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var process: pid_t = 0
        let result = posix_spawnp(&process, arguments[0], &actions, &attributes, &words, &variables)
        guard result == 0 else {
            throw CommandError.unavailable("\(arguments[0]) cannot be started: \(String(cString: strerror(result)))")
        }
        return process
    }

    /// Runs a program to its end.
    ///
    /// - Parameter input: the text for standard input. Use it for secrets: every user of the machine can read
    ///   arguments.
    /// - Returns: the output of the program.
    /// - Throws: ``CommandError`` with the last line of the output if the program fails.
    @discardableResult
    static func run(
        _ arguments: [String], environment: [String: String]? = nil, input: String? = nil
    ) throws -> String {
        let given = try input.map { try nameless($0) }
        defer { if let given { close(given) } }
        let output = try nameless("")
        defer { close(output) }
        // The user of the database may have no access to the current folder.
        let process = try start(
            ["env", "-C", "/"] + arguments, environment: environment ?? ProcessInfo.processInfo.environment,
            input: given, output: output, newSession: false)
        let status = wait(process)
        lseek(output, 0, SEEK_SET)
        let file = FileHandle(fileDescriptor: output, closeOnDealloc: false)
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        guard status == 0 else {
            let reason =
                text.split(separator: "\n").last.map(String.init) ?? exitCode(of: status).map { "exit code \($0)" }
                ?? "a signal ended it"
            throw CommandError.unavailable("\(arguments[0]) failed: \(reason)")
        }
        return text
    }

    /// Writes a text to shared memory without a name, which no other process can open.
    ///
    /// It uses no file, since a container may have no writable folder.
    static func nameless(_ text: String) throws -> Int32 {
        let name = "/vestibule-\(UUID().uuidString)"
        let descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot make shared memory for a program's input", code: 73) }
        shm_unlink(name)
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count, lseek(descriptor, 0, SEEK_SET) == 0 else {
            close(descriptor)
            throw CommandError("cannot make shared memory for a program's input", code: 73)
        }
        return descriptor
    }

    /// The exit code in a status of `waitpid`; `nil` if a signal ended the process.
    static func exitCode(of status: Int32) -> Int32? { status & 0x7f == 0 ? (status >> 8) & 0xff : nil }

    static func wait(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
