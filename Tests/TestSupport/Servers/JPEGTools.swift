import Foundation

/// Runs the programs of libjpeg-turbo on a file, and returns their standard output.
package struct JPEGTools {
    /// The exit code of a program was not 0.
    struct Failure: Error {
        let command: [String]
    }

    private let folder = Result { try ScratchFolder() }

    package init() {}

    package func run(_ program: String, _ arguments: [String], on input: [UInt8]) throws -> [UInt8] {
        let (file, out) = ("\(try folder.get().path)/\(UUID())", Pipe())
        try Data(input).write(to: URL(filePath: file))
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/\(program)")
        (process.arguments, process.standardOutput) = (arguments + [file], out)
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = try out.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: [program] + arguments) }
        return [UInt8](output)
    }
}
