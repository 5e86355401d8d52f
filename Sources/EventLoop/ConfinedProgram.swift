import CLinux
import Foundation

/// A program that computes bytes from bytes, and reaches nothing else.
///
/// It is for third-party programs that read files from strangers. The program runs as a child that gets only its input.
/// It has no environment variables and no other descriptors. Landlock keeps it from all files except programs and
/// libraries. seccomp keeps it from the network and from other processes. Input and output are in memory only, and
/// vanish with the child and with this process.
package struct ConfinedProgram: Sendable {
    /// Why there is no output.
    package struct Failure: Error, Equatable {
        /// Such as `too_slow`, `exit_1`, `signal_9`, `no_program`, `no_landlock`, `no_seccomp`, `no_child` or `no_memory`.
        package let reason: String
        /// Takes the reason.
        package init(_ reason: String) { self.reason = reason }

        /// Whether the state of the machine may be the cause, and not the input. Perhaps the child did not start, the
        /// kernel ended it for lack of memory, or other processes used the processor.
        package var isPassing: Bool { reason.hasPrefix("no_") || ["signal_9", "too_slow"].contains(reason) }
    }

    /// The path of the program.
    package let path: String
    /// The time after which the child is killed.
    package let limit: Duration

    /// The most processor time, in seconds.
    private static let work: UInt32 = 5
    /// The most address space, in bytes.
    private static let memory: UInt = 1 << 30
    /// The most output, in bytes.
    private static let output: UInt = 4 << 20

    /// Takes the program's path and the most time that it may take.
    package init(_ path: String, limit: Duration = .seconds(5)) { (self.path, self.limit) = (path, limit) }

    /// Runs the program.
    ///
    /// - Parameters:
    ///   - arguments: the arguments after the program's name.
    ///   - input: the bytes that it reads.
    /// - Returns: the bytes that it writes, 4 MiB at most.
    /// - Throws: ``Failure``.
    package func run(_ arguments: [String], on input: [UInt8] = []) async throws -> [UInt8] {
        try await Loop.offload { try runHere(arguments, on: input) }
    }

    /// The child ends with the thread that starts it. So that thread waits for the child.
    private func runHere(_ arguments: [String], on input: [UInt8]) throws(Failure) -> [UInt8] {
        let (source, result) = (CLinux_memory(), CLinux_memory())
        defer { for descriptor in [source, result] where descriptor >= 0 { close(descriptor) } }
        guard source >= 0, result >= 0, pwrite(source, input, input.count, 0) == input.count else {
            throw Failure("no_memory")
        }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let child = CLinux_startConfined(&words, source, result, Self.work, Self.memory, Self.output)
        guard child > 0 else { throw Failure("no_child") }
        if let failure = Self.failure(CLinux_wait(child, Int32(clamping: limit.milliseconds))) { throw failure }
        let count = max(0, lseek(result, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: count)
        guard pread(result, &bytes, count, 0) == count else { throw Failure("no_memory") }
        return bytes
    }

    /// - Parameter status: the result of `CLinux_wait`.
    private static func failure(_ status: Int32) -> Failure? {
        guard Int(status) != CLinux_tooSlow else { return Failure("too_slow") }
        guard Int(status) != CLinux_notWatched else { return Failure("no_child") }
        guard status & 0x7f == 0 else { return Failure("signal_\(status & 0x7f)") }
        switch Int(status >> 8 & 0xff) {
        case 0: return nil
        case CLinux_noLandlock: return Failure("no_landlock")
        case CLinux_noSeccomp: return Failure("no_seccomp")
        case CLinux_noProgram: return Failure("no_program")
        case CLinux_noChild: return Failure("no_child")
        case let code: return Failure("exit_\(code)")
        }
    }
}
