import Foundation

/// The `openssl` program, which tests use as another implementation to compare with ours.
package enum OpenSSL {
    /// Runs the program and returns its standard output.
    ///
    /// - Throws: if its exit code is not 0.
    package static func run(_ arguments: [String], _ input: [UInt8] = []) throws -> String {
        let (process, stdin, stdout) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = arguments
        (process.standardInput, process.standardOutput) = (stdin, stdout)
        process.standardError = FileHandle.nullDevice
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input))
        try stdin.fileHandleForWriting.close()
        let text = String(decoding: try stdout.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.featureUnsupported) }
        return text
    }
}
