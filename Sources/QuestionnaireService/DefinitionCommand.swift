import BusProtocol
import Documents
import JSONText

/// The commands of questionnaire's program for definition files. With one of them, the program does not serve.
enum DefinitionCommand {
    /// - Parameter arguments: of the program, without its name.
    static func runIfAsked(_ arguments: [String]) {
        DocumentCommand.runIfAsked(
            arguments, .questionnaire, check: answer, read: { try DefinitionParser.read($0).file },
            compare: { DefinitionDifference(from: $0, to: $1) })
    }

    /// - Parameter system: the published `versions` of the questionnaire in a running system, and the `fields` of its
    ///   profile.
    private static func answer(
        _ name: String, _ bytes: [UInt8], _ system: JSONValue?
    ) throws -> DocumentCommand.Answer {
        let earlier = try system.map { system in
            guard let contents = system["versions"]?.arrayValue else { throw DefinitionError(problems: []) }
            return try EarlierVersions(contents)
        }
        let fields = system.map { system in
            ExtractedFields(known: Set((system["fields"]?.arrayValue ?? []).compactMap(\.stringValue)))
        }
        let check = DefinitionCheck(bytes, today: Timestamp.now().date, earlier: earlier, fields: fields)
        return .init(json: check.json, lines: check.lines(of: name), isWell: check.errorCount == 0)
    }
}
