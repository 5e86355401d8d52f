import BusProtocol
import Foundation
import JSONText
import ServiceRuntime

/// What questionnaire's program does with definition files instead of serving. It needs neither a database nor keys.
enum DefinitionCommand {
    private static let check = "--check-definition"
    private static let compare = "--diff-definitions"
    /// Standard input says what a running system has: its `versions` of the questionnaire, and the `fields` of its profile.
    private static let system = "--system-from-input"

    /// Does what the program was asked to and ends, or returns where it was asked for nothing of this.
    ///
    /// It ends with 0 where everything is well, 65 (`EX_DATAERR`) where something is wrong with a file, and 66
    /// (`EX_NOINPUT`) where one cannot be read.
    ///
    /// - Parameter arguments: of the program, without its name.
    static func runIfAsked(_ arguments: [String]) {
        let names = arguments.dropFirst().filter { !["--json", system].contains($0) }
        let (isJSON, isInformed) = (arguments.contains("--json"), arguments.contains(system))
        switch (arguments.first, names.count) {
        case (check, 1): checkFile(names[0], isInformed: isInformed, isJSON: isJSON)
        case (compare, 2): compareFiles(names[0], names[1], isJSON: isJSON)
        case (check, _), (compare, _):
            ServiceProcess.fail("expected \(check) FILE or \(compare) OLD NEW, and --json or nothing more", code: 64)
        default: break
        }
    }

    private static func checkFile(_ name: String, isInformed: Bool, isJSON: Bool) -> Never {
        let (earlier, fields) = isInformed ? told() : (nil, nil)
        let check = DefinitionCheck(
            bytes(of: name), today: Timestamp.now().date, earlier: earlier, fields: fields)
        printResult(check.json, check.lines(of: name), isJSON: isJSON)
        ServiceProcess.end(check.errorCount == 0 ? 0 : 65)
    }

    private static func compareFiles(_ old: String, _ new: String, isJSON: Bool) -> Never {
        let difference = DefinitionDifference(from: file(old), to: file(new))
        printResult(difference.json, difference.lines, isJSON: isJSON)
        ServiceProcess.end(0)
    }

    private static func file(_ name: String) -> DefinitionFile {
        do throws(DefinitionError) {
            return try DefinitionParser.read(bytes(of: name)).file
        } catch {
            ServiceProcess.fail("\(name) is no definition: see vestibule questionnaire check \(name)", code: 65)
        }
    }

    private static func told() -> (EarlierVersions?, ExtractedFields?) {
        let bytes = [UInt8](FileHandle.standardInput.readDataToEndOfFile())
        let limits = JSONLimits(depth: DefinitionParser.limits.depth + 2, values: .max)
        guard let input = try? JSONValue.parse(bytes, limits: limits), let contents = input["versions"]?.arrayValue,
            let versions = try? EarlierVersions(contents)
        else {
            ServiceProcess.fail("a published version cannot be read: is the system newer than this command?", code: 1)
        }
        return (versions, ExtractedFields(known: Set((input["fields"]?.arrayValue ?? []).compactMap(\.stringValue))))
    }

    private static func bytes(of name: String) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: name) else {
            ServiceProcess.fail("\(name) cannot be read", code: 66)
        }
        return Array(data)
    }

    private static func printResult(_ json: JSONValue, _ lines: [String], isJSON: Bool) {
        for line in isJSON ? [String(decoding: CanonicalJSON.bytes(of: json), as: UTF8.self)] : lines { print(line) }
    }
}
