import Documents
import JSONText
import ServiceRuntime

/// The commands of profile's program for files of the library of fields. With one of them, the program does not serve.
enum LibraryCommand {
    /// `--library-schema` prints the JSON Schema of a file.
    ///
    /// - Parameter arguments: of the program, without its name.
    static func runIfAsked(_ arguments: [String]) {
        if arguments == ["--library-schema"] {
            print(FieldLibraryDocument.schemaText, terminator: "")
            ServiceProcess.end(0)
        }
        // A service without a library does not start, and says why.
        guard let shipped = try? FieldLibrary.shippedDocument.get() else { return }
        DocumentCommand.runIfAsked(
            arguments, .library, check: { try answer($0, $1, $2, shipped) }, read: { try FieldLibraryDocument($0) },
            compare: { FieldLibraryDifference(from: $0, to: $1) })
    }

    /// - Parameter system: the newest version in a running system. Without it, the file is compared with the library of
    ///   this release.
    private static func answer(
        _ name: String, _ bytes: [UInt8], _ system: JSONValue?, _ shipped: FieldLibraryDocument
    ) throws -> DocumentCommand.Answer {
        let newest = try system.map { try FieldLibraryDocument($0) } ?? shipped
        let check = DocumentCheck(bytes) { FieldLibraryPublication.report(on: $0, after: newest) }
        let place = system == nil ? "of this release" : "in the running system"
        return .init(
            json: ["findings": check.json, "comparedVersion": .integer(newest.version)],
            lines: check.lines(of: name) + ["note: it was compared with version \(newest.version) \(place)"],
            isWell: check.errorCount == 0)
    }
}
