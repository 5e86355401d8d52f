import BusProtocol
import EventLoop
import JSONText

/// A kind of document that commands check, compare, import and publish over the bus.
protocol DocumentClient: SendableMetatype {
    /// The commands of the kind. Their shared word is the name of the kind.
    static var commands: CommandGroup { get }
    /// The word for a version, such as `definition`.
    static var noun: String { get }
    /// The service that has the documents. Its program has their rules.
    static var service: String { get }
    /// The key of the only document of the kind. Commands then take no key. It is `nil` if there may be several.
    static var onlyKey: String? { get }

    /// - Returns: the number of the draft.
    @Loop static func create(_ content: JSONValue, of key: String, _ bus: BusAccess) async throws -> Int64
    @Loop static func check(_ draft: String, of key: String, _ bus: BusAccess) async throws -> DraftReport
    @Loop static func publish(
        _ draft: String, of key: String, accepting accepted: String?, _ bus: BusAccess
    ) async throws -> PublishedDraft
    @Loop static func delete(_ draft: String, of key: String, _ bus: BusAccess) async throws

    /// The data of a running system against which a file is checked, in the form that the service's program reads.
    @Loop static func system(for key: String, _ bus: BusAccess) async throws -> JSONValue
    /// The people whom a refused change affects, from the details of the refusal.
    static func affected(_ details: [String: JSONValue]) -> String
}

extension DocumentClient {
    static var onlyKey: String? { nil }
}

/// The result of publishing a draft.
struct PublishedDraft {
    var version: Int64
    var changeClass: String?
    var changes: [VersionChange]
    /// A sentence about the people who go on with older versions.
    var note: String?
}
