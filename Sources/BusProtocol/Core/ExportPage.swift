import JSONText

/// Asks a service for what it holds about the person behind the request, a page at a time.
public protocol ExportRequest: BusRequest where Reply == ExportPage {
    /// Where the page begins: ``ExportPage/next`` of the one before; `nil` for the first.
    var after: String? { get }
    init(after: String?)
}

/// A page of what a service holds about a person.
public struct ExportPage: PublicReply {
    /// Records of a page at the most.
    public static let mostRecords = 50
    /// Bytes of its records, a first one that is larger aside.
    public static let budget = 262_144

    public static let schema = JSONSchema.object([
        .required("records", .array(of: .string(2...524_288), count: 0...mostRecords)),
        .optional("next", .string(1...300)),
    ])
    static let request = JSONSchema.object([.optional("after", .string(1...300))])

    /// A JSON object each, as text: it goes to the person as it is, whatever is in it.
    public var records: [String]
    /// `nil` where this is the last page.
    public var next: String?

    public init(records: [String], next: String?) { (self.records, self.next) = (records, next) }
}
