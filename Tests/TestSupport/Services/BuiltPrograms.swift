import Foundation

/// The programs of the same build as these tests.
package enum BuiltPrograms {
    /// The folder of the programs and of the tests' file. The path of that file is this process's program. If another
    /// program has loaded the file, the path is an argument of that program.
    package static func folder() throws -> URL {
        guard let tests = CommandLine.arguments.first(where: { $0.hasSuffix("PackageTests.xctest") }) else {
            throw ScratchCluster.Failure(description: "no argument names the file of these tests")
        }
        return URL(filePath: tests).absoluteURL.deletingLastPathComponent()
    }
}
