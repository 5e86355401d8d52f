import BusProtocol
import Foundation
import JSONText
import ServiceRuntime

/// What questionnaire's program does with a definition file instead of serving. It needs neither a database nor keys.
enum DefinitionCommand {
    static let argument = "--check-definition"

    /// Prints what is wrong with a file and ends: with 0 where nothing is, 65 (`EX_DATAERR`) where something is, 66
    /// (`EX_NOINPUT`) where the file cannot be read.
    ///
    /// - Parameter words: what follows ``argument``.
    static func main(_ words: [String]) -> Never {
        let (isJSON, files) = (words.contains("--json"), words.filter { $0 != "--json" })
        guard files.count == 1, let name = files.first else {
            ServiceProcess.fail("\(argument): expected one file, and --json or nothing more", code: 64)
        }
        guard let data = FileManager.default.contents(atPath: name) else {
            ServiceProcess.fail("\(name) cannot be read", code: 66)
        }
        let check = DefinitionCheck(Array(data), today: Timestamp.now().date)
        let lines =
            isJSON ? [String(decoding: CanonicalJSON.bytes(of: check.json), as: UTF8.self)] : check.lines(of: name)
        for line in lines { print(line) }
        exit(check.errorCount == 0 ? 0 : 65)
    }
}
