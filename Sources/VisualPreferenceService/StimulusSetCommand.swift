import Documents
import JSONText
import ServiceRuntime

/// The commands of the program for files of stimulus sets. With one of them, the program does not serve.
enum StimulusSetCommand {
    /// `--set-schema` prints the JSON Schema of a file.
    ///
    /// - Parameter arguments: of the program, without its name.
    static func runIfAsked(_ arguments: [String]) {
        if arguments == ["--set-schema"] {
            print(StimulusSetDocument.schemaText, terminator: "")
            ServiceProcess.end(0)
        }
        DocumentCommand.runIfAsked(
            arguments, .stimuli, check: answer,
            read: { try StimulusSetDocument($0) }, compare: { StimulusSetDifference(from: $0, to: $1) })
    }

    /// - Parameter system: the newest version in a running system; `nil` without one.
    private static func answer(
        _ name: String, _ bytes: [UInt8], _ system: JSONValue?
    ) throws -> DocumentCommand.Answer {
        let newest = try system.map { try StimulusSetDocument($0) }
        let check = DocumentCheck(bytes) { StimulusSetPublication.report(on: $0, after: newest) }
        return .init(
            json: ["findings": check.json], lines: check.lines(of: name), isWell: check.errorCount == 0)
    }
}
