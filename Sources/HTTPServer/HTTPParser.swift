/// Reads the requests of one connection: bytes in, heads and bodies out. It knows no socket and no clock, and what it
/// says does not depend on how the bytes were cut into pieces.
///
/// After a refusal it says nothing more.
public struct HTTPParser: Sendable {
    public enum Event: Sendable, Equatable {
        /// A whole head. Nothing more comes before ``HTTPParser/admit(bodyLimit:)`` said how large its body may be.
        case head(HTTPRequestHead)
        /// The request is complete; the next one may follow.
        case body([UInt8])
    }

    /// What the owner's clock has to bound.
    public enum Phase: Sendable, Equatable { case idle, head, admission, body, refused }

    enum State: Sendable {
        case start
        case headers
        case admission(Framing)
        case sizedBody(Int)
        case chunkSize
        case chunkData(Int)
        case chunkEnd
        case trailers
        case refused
    }

    /// How a body is delimited.
    enum Framing: Sendable, Equatable {
        case sized(Int)
        case chunked
    }

    let limits: HTTPLimits
    var state = State.start
    /// Bytes not yet read, from `position` on; no line feed stands before `scanned`.
    private(set) var buffer: [UInt8] = []
    private(set) var position = 0
    private var scanned = 0
    var head = HeadReader()
    /// Bytes of this head, and of its trailers later.
    private var headBytes = 0
    private var skippedEmptyLine = false
    var bodyLimit = 0
    var body: [UInt8] = []
    var extensionBytes = 0

    public init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    public var phase: Phase {
        switch state {
        case .start: position == buffer.count ? .idle : .head
        case .headers: .head
        case .admission: .admission
        case .sizedBody, .chunkSize, .chunkData, .chunkEnd, .trailers: .body
        case .refused: .refused
        }
    }

    /// Bytes taken in and not read yet.
    public var bufferedCount: Int { buffer.count - position }

    public mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            buffer.removeSubrange(..<position)
            scanned -= position
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// - Returns: `nil` where more bytes, or an admission, are needed.
    public mutating func next() throws(HTTPRefusal) -> Event? {
        do {
            while true {
                switch try step() {
                case .event(let event): return event
                case .again: continue
                case .starved: return nil
                }
            }
        } catch {
            state = .refused
            throw error
        }
    }

    /// Goes on with the body of the head that was just handed out.
    ///
    /// - Parameter bodyLimit: bytes, of no account where no body is awaited (``awaitsBody``); more are refused with
    ///   ``HTTPRefusal/bodyTooLarge(limit:)`` as soon as that is known.
    public mutating func admit(bodyLimit: Int) {
        guard case .admission(let framing) = state else { return }
        self.bodyLimit = bodyLimit
        body = []
        extensionBytes = 0
        switch framing {
        case .sized(let count): state = .sizedBody(count)
        case .chunked: state = .chunkSize
        }
    }

    /// After a head: whether a body follows it.
    public var awaitsBody: Bool {
        guard case .admission(let framing) = state, case .sized(0) = framing else { return true }
        return false
    }

    enum Step {
        case event(Event)
        case again, starved
    }

    private mutating func step() throws(HTTPRefusal) -> Step {
        switch state {
        case .start: try readRequestLine()
        case .headers: try readHeader()
        case .admission, .refused: .starved
        case .sizedBody(let count): try readSizedBody(count)
        case .chunkSize: try readChunkSize()
        case .chunkData(let count): readChunkData(count)
        case .chunkEnd: try readChunkEnd()
        case .trailers: try readTrailer()
        }
    }

    private mutating func readRequestLine() throws(HTTPRefusal) -> Step {
        guard let line = try nextHeadLine() else { return .starved }
        if line.isEmpty {
            // RFC 9112, 2.2: one empty line before a request is forgiven.
            guard !skippedEmptyLine else { throw .malformed("Empty lines stand before the request line.") }
            skippedEmptyLine = true
            return .again
        }
        head = HeadReader()
        try read(line) { (head, bytes) throws(HTTPRefusal) in try head.readRequestLine(bytes) }
        state = .headers
        return .again
    }

    private mutating func readHeader() throws(HTTPRefusal) -> Step {
        guard let line = try nextHeadLine() else { return .starved }
        guard line.isEmpty else {
            let limit = limits.headerCount
            try read(line) { (head, bytes) throws(HTTPRefusal) in try head.readField(bytes, limit: limit) }
            return .again
        }
        let (head, framing) = try head.finish()
        state = .admission(framing)
        return .event(.head(head))
    }

    /// Lets the head read buffered bytes where they lie: a slice of the array would be counted at each look at it.
    mutating func read(
        _ line: Range<Int>, _ body: (inout HeadReader, HeadReader.Bytes) throws(HTTPRefusal) -> Void
    ) throws(HTTPRefusal) {
        let buffer = buffer
        try buffer.withUnsafeBufferPointer { (bytes) throws(HTTPRefusal) in try body(&head, bytes[line]) }
    }

    /// A line of the head or of the trailers, which share one allowance.
    mutating func nextHeadLine() throws(HTTPRefusal) -> Range<Int>? {
        let allowance = limits.headBytes - headBytes
        guard let line = try nextLine(longest: allowance, orElse: .headersTooLarge) else { return nil }
        headBytes += line.count + 2
        return line
    }

    /// Where the next line lies in the buffer, without its CRLF.
    ///
    /// - Parameter longest: bytes with the CRLF; more, even unfinished, throw `refusal`.
    mutating func nextLine(longest: Int, orElse refusal: HTTPRefusal) throws(HTTPRefusal) -> Range<Int>? {
        scanned = max(scanned, position)
        let found = buffer.withUnsafeBufferPointer { $0[scanned...].firstIndex(of: HTTPGrammar.lf) }
        guard let end = found else {
            scanned = buffer.count
            guard bufferedCount < longest else { throw refusal }
            return nil
        }
        guard end + 1 - position <= longest else { throw refusal }
        guard end > position, buffer[end - 1] == HTTPGrammar.cr else {
            throw .malformed("A line does not end with CRLF.")
        }
        let line = position..<(end - 1)
        position = end + 1
        return line
    }

    /// Up to `count` of the buffered bytes.
    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let taken = buffer[position...].prefix(count)
        position += taken.count
        return taken
    }

    mutating func finishBody() -> Step {
        state = .start
        headBytes = 0
        skippedEmptyLine = false
        defer { body = [] }
        return .event(.body(body))
    }
}
