import JSONText

/// Asks a service for what it holds about the person behind the request, a page at a time.
public protocol ExportRequest: BusRequest where Reply == ExportPage {
    /// Where the page begins: ``ExportPage/next`` of the one before; `nil` for the first.
    var after: String? { get }
    init(after: String?)
}

/// A page of what a service holds about a person.
@Message
public struct ExportPage: PublicReply {
    /// Records of a page at the most.
    public static let mostRecords = 50
    /// Bytes of its records, a first one that is larger aside.
    public static let budget = 262_144

    /// A JSON object each, as text: it goes to the person as it is, whatever is in it.
    @Field(.string(2...524_288), count: 0...mostRecords) public var records: [String]
    /// `nil` where this is the last page.
    @Field(.string(1...300)) public var next: String?
}
