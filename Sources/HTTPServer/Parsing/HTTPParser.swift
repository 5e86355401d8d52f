import Glibc

/// Parses the requests of one connection: bytes in, heads and bodies out. It has no socket and no clock. Its events do
/// not depend on how the bytes were split into reads.
///
/// After a refusal it parses nothing more.
package struct HTTPParser: Sendable {
    /// A parsed part of a request.
    package enum Event: Sendable, Equatable {
        /// A complete head. The parser goes on when ``HTTPParser/admit(bodyLimit:partLength:)`` sets the limit of the body.
        case head(HTTPRequestHead)
        /// The next part of a body that is read in parts. ``HTTPParser/admit(bodyLimit:partLength:)`` sets its length.
        case part([UInt8])
        /// The complete body, or the rest of it after its parts. It ends the request.
        case body([UInt8])
    }

    /// The part of a request that the parser waits for. The owner limits the time of each phase.
    package enum Phase: Sendable, Equatable { case idle, head, admission, body, refused }

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
    /// The bytes from `position` on are not parsed yet. There is no line feed between `position` and `scanned`.
    private(set) var buffer: [UInt8] = []
    private(set) var position = 0
    private var scanned = 0
    var head = HeadReader()
    /// The bytes of this head and, later, of its trailers.
    private var headBytes = 0
    private var skippedEmptyLine = false
    var bodyLimit = 0
    private var partLength = Int.max
    /// The bytes of the body, or of its part, that have been read.
    private var body: [UInt8] = []
    /// The bytes of the body that have been read.
    private(set) var bodyCount = 0
    var extensionBytes = 0

    /// Makes a parser for the first request of a connection.
    package init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// The present phase.
    package var phase: Phase {
        switch state {
        case .start: position == buffer.count ? .idle : .head
        case .headers: .head
        case .admission: .admission
        case .sizedBody, .chunkSize, .chunkData, .chunkEnd, .trailers: .body
        case .refused: .refused
        }
    }

    /// The number of appended bytes that are not parsed yet.
    package var bufferedCount: Int { buffer.count - position }

    /// Adds bytes of the connection. ``next()`` parses them.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        if position > 0 {
            buffer.removeSubrange(..<position)
            scanned -= position
            position = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Parses up to the next event.
    ///
    /// - Returns: `nil` if the parser needs more bytes, or a call of ``admit(bodyLimit:partLength:)``.
    /// - Throws: the refusal, once. Later calls return `nil`.
    package mutating func next() throws(HTTPRefusal) -> Event? {
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

    /// Lets the parser go on with the body after a head.
    ///
    /// - Parameters:
    ///   - bodyLimit: the most bytes of the body. The parser refuses a larger body with
    ///     ``HTTPRefusal/bodyTooLarge(limit:)`` as soon as it knows the size. Without a body (``awaitsBody``), the
    ///     limit does not matter.
    ///   - partLength: the bytes of each part in which ``Event/part(_:)`` passes the body on while it arrives. By
    ///     default, the parser passes the body on whole.
    package mutating func admit(bodyLimit: Int, partLength: Int = .max) {
        guard case .admission(let framing) = state else { return }
        self.bodyLimit = bodyLimit
        self.partLength = partLength
        (body, bodyCount, extensionBytes) = ([], 0, 0)
        switch framing {
        case .sized(let count): state = .sizedBody(count)
        case .chunked: state = .chunkSize
        }
    }

    /// Whether a body follows the head that was just parsed.
    package var awaitsBody: Bool {
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
            // RFC 9112, 2.2: a server should ignore an empty line before a request. This server ignores only one.
            guard !skippedEmptyLine else { throw .malformed("Empty lines stand before the request line.") }
            skippedEmptyLine = true
            return .again
        }
        head = HeadReader()
        let buffer = buffer
        try head.readRequestLine(buffer.span.extracting(line))
        state = .headers
        return .again
    }

    private mutating func readHeader() throws(HTTPRefusal) -> Step {
        guard let line = try nextHeadLine() else { return .starved }
        guard line.isEmpty else {
            let buffer = buffer
            try head.readField(buffer.span.extracting(line), limit: limits.headerCount)
            return .again
        }
        let (head, framing) = try head.finish()
        state = .admission(framing)
        return .event(.head(head))
    }

    /// The next line of the head or of the trailers, which share one limit.
    mutating func nextHeadLine() throws(HTTPRefusal) -> Range<Int>? {
        let allowance = limits.headBytes - headBytes
        guard let line = try nextLine(longest: allowance, orElse: .headersTooLarge) else { return nil }
        headBytes += line.count + 2
        return line
    }

    /// The range of the next line in the buffer, without its CRLF.
    ///
    /// - Parameter longest: the most bytes of a line, with its CRLF. A longer line throws `refusal`, even if it is
    ///   incomplete.
    mutating func nextLine(longest: Int, orElse refusal: HTTPRefusal) throws(HTTPRefusal) -> Range<Int>? {
        scanned = max(scanned, position)
        guard let end = place(of: HTTPGrammar.lf, from: scanned) else {
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

    private func place(of byte: UInt8, from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress else { return nil }
            return memchr(base + start, Int32(byte), bytes.count - start).map { UnsafeRawPointer($0) - base }
        }
    }

    /// Takes up to `count` bytes from the buffer.
    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let taken = buffer[position...].prefix(count)
        position += taken.count
        return taken
    }

    /// Moves up to `count` bytes to the body, but not beyond the end of a part.
    ///
    /// - Returns: the number of bytes that it moved.
    mutating func takeBody(_ count: Int) -> Int {
        let taken = take(min(count, partLength - body.count))
        body.append(contentsOf: taken)
        bodyCount += taken.count
        return taken.count
    }

    /// Passes on a complete part. If the part is not complete, the parser needs more bytes.
    mutating func finishPart() -> Step {
        guard body.count == partLength else { return .starved }
        defer { body = [] }
        return .event(.part(body))
    }

    mutating func finishBody() -> Step {
        state = .start
        headBytes = 0
        skippedEmptyLine = false
        defer { body = [] }
        return .event(.body(body))
    }
}
