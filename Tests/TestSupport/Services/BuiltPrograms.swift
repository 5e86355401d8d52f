import Foundation

/// The programs that are built with these tests.
package enum BuiltPrograms {
    /// The folder that they are in, with the file of the tests. Its path is this process's program or, if another program has
    /// loaded it, an argument of that one.
    package static func folder() throws -> URL {
        guard let tests = CommandLine.arguments.first(where: { $0.hasSuffix("PackageTests.xctest") }) else {
            throw ScratchCluster.Failure(description: "no argument names the file of these tests")
        }
        return URL(filePath: tests).absoluteURL.deletingLastPathComponent()
    }
}
