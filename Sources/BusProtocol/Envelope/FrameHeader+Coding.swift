extension FrameHeader {
    /// The header as the first of two parts. The header must be writable.
    public func encoded() -> [UInt8] { encoded(.twoParts, []) }

    /// The whole frame in one part. The header must be writable and must give the length of `body`.
    public func encoded(before body: [UInt8]) -> [UInt8] { encoded(.onePart, body) }

    private func encoded(_ wire: WireVersion, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 + body.count)
        write(to: &bytes, wire, body)
        return bytes
    }

    /// Appends the header and then the body. The header must be writable.
    func write(to bytes: inout [UInt8], _ wire: WireVersion, _ body: [UInt8]) {
        bytes += Self.magic
        bytes.append(wire.rawValue)
        bytes.append(kind.rawValue)
        bytes.append((isReplay ? 1 : 0) | (wantsHello ? 2 : 0) | (isAsOperator ? 4 : 0) | (hasOtherSuccess ? 8 : 0))
        bytes.append(attempt)
        bytes.append(0)
        bytes.appendInteger(correlationID)
        bytes.appendInteger(bodyLength)
        bytes.appendInteger(budgetMs)
        bytes.appendInteger(sentAtMs)
        if let messageType {
            bytes.begin(.message, messageType.rawValue.utf8.count + 2)
            bytes += messageType.rawValue.utf8
            bytes.appendInteger(messageVersion)
        }
        if let messageID {
            bytes.begin(.messageID, 16)
            bytes.append(messageID)
        }
        if let idempotencyKey { bytes.append(.idempotencyKey, idempotencyKey) }
        if let traceparent { bytes.append(.traceparent, traceparent) }
        if let actor {
            bytes.begin(.actor, 32 + actor.role.rawValue.utf8.count)
            bytes.append(actor.userID)
            bytes.append(actor.sessionID)
            bytes += actor.role.rawValue.utf8
            if let app = actor.app { bytes.append(.app, app) }
        }
        if let clientAddress { bytes.append(.clientAddress, clientAddress) }
        if let hints {
            bytes.begin(.hints, 12)
            bytes.appendInteger(hints.queueDepth)
            bytes.appendInteger(hints.inFlight)
            bytes.appendInteger(hints.handlerMicroseconds)
        }
        if let entityRevision {
            bytes.begin(.entityRevision, 8)
            bytes.appendInteger(entityRevision)
        }
        if let accessToken { bytes.append(.accessToken, accessToken) }
        if let entityTag { bytes.append(.entityTag, entityTag.rawValue) }
        if let contentLanguage { bytes.append(.contentLanguage, contentLanguage) }
        bytes += body
    }

    /// Reads the first of two parts.
    public static func decoded(_ bytes: [UInt8]) -> Result<FrameHeader, FrameError> {
        bytes.withUnsafeBytes { bytes in Result { () throws(FrameError) in try FrameHeader(decoding: bytes) } }
    }

    /// Reads the first of two parts. The header keeps no reference to `bytes`.
    ///
    /// - Throws: ``FrameError`` if it is no frame header.
    public init(decoding bytes: UnsafeRawBufferPointer) throws(FrameError) {
        try self.init(bytes, wire: .twoParts, body: 0)
    }

    /// Reads a frame in one part. The header keeps no reference to `bytes`.
    ///
    /// - Returns: the header, and the bytes of the body within `bytes`.
    /// - Throws: ``FrameError`` if it is no frame.
    public static func read(
        _ bytes: UnsafeRawBufferPointer
    ) throws(FrameError) -> (header: FrameHeader, body: UnsafeRawBufferPointer) {
        guard bytes.count >= fixedLength else { throw .tooShort }
        let bodyLength: UInt32 = bytes.integer(at: 16)
        let header = try FrameHeader(bytes, wire: .onePart, body: Int(bodyLength))
        return (header, UnsafeRawBufferPointer(rebasing: bytes.suffix(Int(bodyLength))))
    }

    /// - Parameter body: the number of bytes at the end that are not part of the header.
    private init(_ bytes: UnsafeRawBufferPointer, wire: WireVersion, body: Int) throws(FrameError) {
        guard bytes.count >= Self.fixedLength else { throw .tooShort }
        guard bytes[0..<3].elementsEqual(Self.magic), bytes[3] == wire.rawValue else { throw .wrongMagic }
        let correlationID: UInt64 = bytes.integer(at: 8)
        guard let kind = FrameKind(rawValue: bytes[4]) else {
            throw .unknownKind(bytes[4], correlationID: correlationID)
        }
        self.init(kind: kind, correlationID: correlationID, bodyLength: bytes.integer(at: 16))
        let end = bytes.count - body
        guard end >= Self.fixedLength else { throw .wrongLength(correlationID: correlationID) }
        isReplay = bytes[5] & 1 != 0
        wantsHello = bytes[5] & 2 != 0
        isAsOperator = bytes[5] & 4 != 0
        hasOtherSuccess = bytes[5] & 8 != 0
        attempt = bytes[6]
        budgetMs = bytes.integer(at: 20)
        sentAtMs = bytes.integer(at: 24)
        var position = Self.fixedLength
        var seen: UInt32 = 0
        while position < end {
            let id = bytes[position]
            guard position + 3 <= end else { throw .malformedField(id, correlationID: correlationID) }
            let length = Int(bytes.integer(at: position + 1) as UInt16)
            let start = position + 3
            guard start + length <= end else { throw .malformedField(id, correlationID: correlationID) }
            let value = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
            position = start + length
            guard let field = Field(rawValue: id) else {
                if id & 0x80 != 0 { throw .mustUnderstand(id, correlationID: correlationID) }
                continue
            }
            // A frame with two actors would be ambiguous.
            guard seen & (1 << UInt32(id)) == 0, read(field, value) else {
                throw .malformedField(id, correlationID: correlationID)
            }
            seen |= 1 << UInt32(id)
        }
    }

    private mutating func read(_ field: Field, _ value: UnsafeRawBufferPointer) -> Bool {
        switch field {
        case .message:
            guard value.count > 2, let name = value.text(0..<(value.count - 2), atMost: Self.longestType) else {
                return false
            }
            messageType = MessageType(rawValue: name)
            messageVersion = value.integer(at: value.count - 2)
        case .messageID: messageID = Identifier(value)
        case .idempotencyKey: idempotencyKey = value.text(0..<value.count, atMost: Self.longestKey)
        case .traceparent: traceparent = value.text(0..<value.count, atMost: Self.longestTrace)
        case .clientAddress: clientAddress = value.text(0..<value.count, atMost: Self.longestAddress)
        case .accessToken: accessToken = value.text(0..<value.count, atMost: Self.longestToken)
        case .actor:
            guard value.count > 32, let user = Identifier(UnsafeRawBufferPointer(rebasing: value[..<16])),
                let session = Identifier(UnsafeRawBufferPointer(rebasing: value[16..<32])),
                let role = value.text(32..<value.count, atMost: Self.longestRole)
            else { return false }
            actor = Actor(userID: user, sessionID: session, role: Role(rawValue: role))
        case .app:
            // The app belongs to the actor, which comes first.
            guard actor != nil, let app = value.text(0..<value.count, atMost: Self.longestApp) else { return false }
            actor?.app = app
        case .hints:
            guard value.count >= 12 else { return false }
            hints = Hints(
                queueDepth: value.integer(at: 0), inFlight: value.integer(at: 4),
                handlerMicroseconds: value.integer(at: 8))
        case .entityRevision:
            guard value.count == 8 else { return false }
            entityRevision = value.integer(at: 0)
        case .entityTag: entityTag = value.text(0..<value.count, atMost: Self.longestTag).map(EntityTag.init(rawValue:))
        case .contentLanguage: contentLanguage = value.text(0..<value.count, atMost: Self.longestLanguage)
        }
        switch field {
        case .messageID: return messageID != nil
        case .idempotencyKey: return idempotencyKey != nil
        case .traceparent: return traceparent != nil
        case .clientAddress: return clientAddress != nil
        case .accessToken: return accessToken != nil
        case .entityTag: return entityTag != nil
        case .contentLanguage: return contentLanguage != nil
        default: return true
        }
    }
}

extension [UInt8] {
    /// Appends an integer in little-endian order.
    mutating func appendInteger(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func begin(_ field: FrameHeader.Field, _ length: Int) {
        append(field.rawValue)
        appendInteger(UInt16(length))
    }

    fileprivate mutating func append(_ field: FrameHeader.Field, _ text: String) {
        begin(field, text.utf8.count)
        self += text.utf8
    }

    fileprivate mutating func append(_ id: Identifier) {
        Swift.withUnsafeBytes(of: id.bytes) { append(contentsOf: $0) }
    }
}

extension UnsafeRawBufferPointer {
    /// Reads a little-endian integer. The bytes must be within bounds.
    func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// Reads a text of a header: visible ASCII characters and spaces only.
    fileprivate func text(_ range: Range<Int>, atMost limit: Int) -> String? {
        let bytes = UnsafeRawBufferPointer(rebasing: self[range])
        return FrameHeader.isText(bytes, limit) ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
