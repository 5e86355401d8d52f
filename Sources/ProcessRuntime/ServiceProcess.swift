import Dispatch
import EventLoop
import Foundation
import JSONText

/// The life of a program's process: arguments, configuration, signals and an orderly end.
package enum ServiceProcess {
    /// Ends the process with exit code 64 if it got an unknown argument. Otherwise it would ignore the argument and
    /// start.
    package static func refuseUnknown(_ arguments: some Sequence<String>, known: [String]) {
        guard let other = arguments.first(where: { !known.contains($0) }) else { return }
        let program = CommandLine.arguments[0].split(separator: "/").last ?? ""
        fail(
            "\(program) takes no \(other), only \(known.joined(separator: ", ")); what else it must know it reads from its "
                + "environment: see vestibule config", code: 64)
    }

    /// Ends the process after all output and logs are written.
    ///
    /// It does not call `exit`, which cleans up libcrypto while threads that connect to the database still use it. With
    /// `exit`, about one end in a hundred was a crash.
    ///
    /// - Parameter code: an exit code of sysexits.h.
    package static func end(_ code: Int32) -> Never {
        fflush(nil)
        LogWriter.standardError.flush()
        _exit(code)
    }

    /// Prints one line and ends the process.
    ///
    /// - Parameter code: an exit code of sysexits.h; 78 is `EX_CONFIG`.
    package static func fail(_ message: String, code: Int32 = 78) -> Never {
        Log.standardError(Array((message + "\n").utf8))
        end(code)
    }

    /// Prints each problem of the environment on its own line.
    package static func check(_ variables: [ConfigurationVariable], prefix: String) {
        let mistakes = Configuration.mistakes(
            variables: variables, prefix: prefix, environment: ProcessInfo.processInfo.environment)
        for mistake in mistakes { print(mistake) }
    }

    /// Prints variables as a JSON array.
    package static func describe(_ variables: [ConfigurationVariable]) {
        let described = variables.map { variable -> JSONValue in
            [
                "name": .string(variable.name), "type": .string(variable.kind.label),
                "default": variable.fallback.map { .string($0) } ?? .null, "note": .string(variable.note),
                "secret": .bool(variable.isSecret),
            ]
        }
        print(String(decoding: CanonicalJSON.bytes(of: .array(described)), as: UTF8.self))
    }
}

/// Waits for SIGTERM or SIGINT on the loop.
@Loop package final class StopSignal {
    private let heard = LoopPromise<Void>()
    private var sources: [any DispatchSourceSignal] = []

    /// Handles the two signals from now on, and ignores SIGPIPE.
    package init() {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            // Dispatch calls it on its own thread, so it must not inherit the isolation of this initialiser.
            source.setEventHandler { @Sendable [self] in Loop.spawn { await self.hear() } }
            source.resume()
            sources.append(source)
        }
    }

    /// Acts as if the signal had arrived.
    package func hear() { heard.resolve(.success(())) }

    /// Returns when a signal arrives.
    package func wait() async { try? await heard.get() }
}
