import JSONText

/// Asks a service for the data that it holds about the person behind the request, one page at a time.
public protocol ExportRequest: BusRequest where Reply == ExportPage {
    /// Where the page begins: ``ExportPage/next`` of the page before; `nil` for the first page.
    var after: String? { get }
    /// Takes where the page begins.
    init(after: String?)
}

/// One page of the data that a service holds about a person.
@Message
public struct ExportPage: PublicReply {
    /// The most records of one page.
    public static let mostRecords = 50
    /// The most bytes of a page's records. A single record that is larger makes a page of its own.
    public static let budget = 262_144

    /// One JSON object per record, as text. The person receives it unchanged.
    @Field(.string(2...524_288), count: 0...mostRecords) public var records: [String]
    /// Where the next page begins; missing on the last page.
    @Field(.string(1...300)) public var next: String?
}
