import BusProtocol
import BusRuntime
import EventLoop
import JSONText

/// All data that the services store about a person, as one JSON document. The gateway writes the document while it
/// sends it.
///
/// The gateway sends the first byte only once it has the first page of every service. So a refusal or an unavailable
/// service gives a problem document. A later failure cuts the document off.
@Loop final class ExportDocument {
    static nonisolated let schema = JSONSchema.object(
        [
            .required("personId", .uuid, "Whose data it is."),
            .required("exportedAt", .dateTime, "When it was put together."),
        ]
            + ServiceName.services.map {
                .required(
                    $0.identifier, .array(of: .map(of: .any, count: 1...64), count: 0...1_000_000),
                    "Records of the \($0.rawValue) service.")
            }
    ).named("AccountExport", "Everything that is held about a person.")

    /// The export request of each service, in the order of the document.
    static nonisolated let requests: [any ExportRequest.Type] = ServiceName.services.compactMap { service in
        MessageCatalogue.all.lazy.compactMap { $0 as? any ExportRequest.Type }.first { $0.rules.service == service }
    }

    private let services: [ServicePages]
    private let note: @Loop @Sendable () async throws(BusError) -> Void
    private let person: Identifier
    private var place = 0
    private var isOpen = false
    private var isOver = false
    private var separator = ""

    /// - Parameter options: called for the options of each call.
    init(of person: Identifier, bus: Bus, options: @escaping @Loop @Sendable () -> CallOptions) {
        self.person = person
        services = Self.requests.map { ServicePages($0, bus, options) }
        note = { () async throws(BusError) in
            var options = options()
            options.idempotencyKey = "\(IdempotencyKey.gatewayPrefix)\(Identifier.ordered())"
            _ = try await bus.call(BeginExport(), options)
        }
    }

    /// Asks each service for its first page, then has auth record the export.
    ///
    /// - Returns: the first bytes of the document.
    func begin() async throws(BusError) -> [UInt8] {
        for service in services { try await service.load() }
        try await note()
        return Array(#"{"personId":"\#(person)","exportedAt":"\#(Timestamp.now())""#.utf8)
    }

    /// The next part of the document; `nil` after the end.
    func next() async throws -> [UInt8]? {
        guard services.indices.contains(place) else {
            defer { isOver = true }
            return isOver ? nil : Array("}".utf8)
        }
        let service = services[place]
        var text = ""
        if !isOpen {
            text = #","\#(service.name.identifier)":["#
            (isOpen, separator) = (true, "")
        }
        if let page = try await service.next() {
            for record in page.records {
                text += separator + record
                separator = ","
            }
        } else {
            text += "]"
            (place, isOpen) = (place + 1, false)
        }
        return Array(text.utf8)
    }
}

/// The pages of one service, one after another.
@Loop private final class ServicePages {
    let name: ServiceName
    private let ask: @Loop @Sendable (String?) async throws(BusError) -> ExportPage
    /// The first page, if it was fetched but not returned yet.
    private var waiting: ExportPage?
    private var cursor: String?
    private var isOver = false

    init<Request: ExportRequest>(
        _ request: Request.Type, _ bus: Bus, _ options: @escaping @Loop @Sendable () -> CallOptions
    ) {
        name = Request.rules.service
        ask = { cursor async throws(BusError) in try await bus.call(Request(after: cursor), options()) }
    }

    func load() async throws(BusError) { waiting = try await ask(nil) }

    /// - Returns: `nil` after the last one.
    func next() async throws(BusError) -> ExportPage? {
        guard !isOver else { return nil }
        let page: ExportPage
        if let waiting { page = waiting } else { page = try await ask(cursor) }
        (waiting, cursor, isOver) = (nil, page.next, page.next == nil)
        return page
    }
}
