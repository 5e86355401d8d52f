import Foundation
import JSONText
import ProcessRuntime

/// The commands of a service's program for files of documents. With one of these commands, the program does not serve.
/// It needs neither a database nor keys.
package enum DocumentCommand {
    /// The result for a file.
    package struct Answer {
        let json: JSONValue
        let lines: [String]
        let isWell: Bool

        /// - Parameters:
        ///   - json: the result for a program.
        ///   - lines: the result for a person.
        ///   - isWell: `false` if something is wrong with the file.
        package init(json: JSONValue, lines: [String], isWell: Bool) {
            (self.json, self.lines, self.isWell) = (json, lines, isWell)
        }
    }

    /// With this option, standard input has the data of a running system.
    private static let system = "--system-from-input"

    /// Runs a command and ends the program. It returns if the arguments name none of these commands.
    ///
    /// If the kind's noun is `definition`, the commands are `--check-definition FILE` and `--diff-definition OLD NEW`.
    /// The exit code is 0 on success, 65 (`EX_DATAERR`) if a file has problems, and 66 (`EX_NOINPUT`) if it cannot read
    /// a file.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the program, without its name.
    ///   - check: checks a file by its name and its bytes. With `--system-from-input`, it also gets the data of a
    ///     running system, and throws if it cannot read them.
    ///   - read: reads a file and checks its shape.
    ///   - compare: compares two files.
    package static func runIfAsked<File>(
        _ arguments: [String], _ kind: DocumentKind,
        check: (_ name: String, _ bytes: [UInt8], _ system: JSONValue?) throws -> Answer,
        read: ([UInt8]) throws -> File, compare: (File, File) -> some DocumentDifference
    ) {
        let (checking, comparing) = ("--check-\(kind.noun)", "--diff-\(kind.noun)")
        let names = arguments.dropFirst().filter { !["--json", system].contains($0) }
        let isJSON = arguments.contains("--json")
        switch (arguments.first, names.count) {
        case (checking, 1):
            let told = arguments.contains(system) ? Optional(told()) : .none
            guard let answer = try? check(names[0], bytes(of: names[0]), told) else { failUnread() }
            print(answer, isJSON: isJSON)
        case (comparing, 2):
            let files = names.map { name in
                guard let file = try? read(bytes(of: name)) else {
                    ServiceProcess.fail(
                        "\(name) is no \(kind.noun): see vestibule \(kind.name) check \(name)", code: 65)
                }
                return file
            }
            let difference = compare(files[0], files[1])
            print(Answer(json: difference.json, lines: difference.lines, isWell: true), isJSON: isJSON)
        case (checking, _), (comparing, _):
            ServiceProcess.fail(
                "expected \(checking) FILE or \(comparing) OLD NEW, and --json or nothing more", code: 64)
        default: break
        }
    }

    private static func told() -> JSONValue {
        let bytes = [UInt8](FileHandle.standardInput.readDataToEndOfFile())
        let limits = JSONLimits(depth: DocumentText.limits.depth + 2, values: .max)
        guard let input = try? JSONValue.parse(bytes, limits: limits) else { failUnread() }
        return input
    }

    private static func failUnread() -> Never {
        ServiceProcess.fail("a published version cannot be read: is the system newer than this command?", code: 1)
    }

    private static func bytes(of name: String) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: name) else {
            ServiceProcess.fail("\(name) cannot be read", code: 66)
        }
        return Array(data)
    }

    private static func print(_ answer: Answer, isJSON: Bool) -> Never {
        let lines = isJSON ? [String(decoding: CanonicalJSON.bytes(of: answer.json), as: UTF8.self)] : answer.lines
        for line in lines { Swift.print(line) }
        ServiceProcess.end(answer.isWell ? 0 : 65)
    }
}
