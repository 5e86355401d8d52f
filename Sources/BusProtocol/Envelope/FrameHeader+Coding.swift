extension FrameHeader {
    /// The bytes of the first part. Texts longer than 65,535 bytes are cut by nobody: they do not come this far.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        bytes += Self.magic
        bytes += [kind.rawValue, isReplay ? 1 : 0, attempt, 0]
        bytes.appendInteger(correlationID)
        bytes.appendInteger(bodyLength)
        bytes.appendInteger(budgetMs)
        bytes.appendInteger(sentAtMs)
        if let messageType {
            bytes.append(.message, Array(messageType.rawValue.utf8)) { $0.appendInteger(messageVersion) }
        }
        if let messageID { bytes.append(.messageID, messageID.array) }
        if let idempotencyKey { bytes.append(.idempotencyKey, Array(idempotencyKey.utf8)) }
        if let traceparent { bytes.append(.traceparent, Array(traceparent.utf8)) }
        if let actor { bytes.append(.actor, actor.userID.array + actor.sessionID.array + actor.role.utf8) }
        if let clientAddress { bytes.append(.clientAddress, Array(clientAddress.utf8)) }
        if let hints {
            bytes.append(.hints, []) {
                $0.appendInteger(hints.inFlight)
                $0.appendInteger(hints.handlerMicroseconds)
            }
        }
        return bytes
    }

    /// Reads a first part.
    public static func decoded(_ bytes: [UInt8]) -> Result<FrameHeader, FrameError> {
        bytes.withUnsafeBytes { bytes in Result { () throws(FrameError) in try FrameHeader(decoding: bytes) } }
    }

    init(decoding bytes: UnsafeRawBufferPointer) throws(FrameError) {
        guard bytes.count >= Self.fixedLength else { throw .tooShort }
        guard bytes[0..<4].elementsEqual(Self.magic) else { throw .wrongMagic }
        let correlationID: UInt64 = bytes.integer(at: 8)
        guard let kind = FrameKind(rawValue: bytes[4]) else {
            throw .unknownKind(bytes[4], correlationID: correlationID)
        }
        self.init(kind: kind, correlationID: correlationID, bodyLength: bytes.integer(at: 16))
        isReplay = bytes[5] & 1 != 0
        attempt = bytes[6]
        budgetMs = bytes.integer(at: 20)
        sentAtMs = bytes.integer(at: 24)
        var position = Self.fixedLength
        while position < bytes.count {
            let id = bytes[position]
            guard position + 3 <= bytes.count else { throw .malformedField(id, correlationID: correlationID) }
            let length = Int(bytes.integer(at: position + 1) as UInt16)
            let start = position + 3
            guard start + length <= bytes.count else { throw .malformedField(id, correlationID: correlationID) }
            let value = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
            position = start + length
            guard let field = Field(rawValue: id) else {
                if id & 0x80 != 0 { throw .mustUnderstand(id, correlationID: correlationID) }
                continue
            }
            guard read(field, value) else { throw .malformedField(id, correlationID: correlationID) }
        }
    }

    private mutating func read(_ field: Field, _ value: UnsafeRawBufferPointer) -> Bool {
        switch field {
        case .message:
            guard value.count > 2, let name = value.text(0..<(value.count - 2), atMost: 64) else { return false }
            messageType = MessageType(rawValue: name)
            messageVersion = value.integer(at: value.count - 2)
        case .messageID: messageID = Identifier(value)
        case .idempotencyKey: idempotencyKey = value.text(0..<value.count, atMost: 255)
        case .traceparent: traceparent = value.text(0..<value.count, atMost: 128)
        case .clientAddress: clientAddress = value.text(0..<value.count, atMost: 64)
        case .actor:
            guard value.count > 32, let user = Identifier(value[0..<16]), let session = Identifier(value[16..<32]),
                let role = value.text(32..<value.count, atMost: 16)
            else { return false }
            actor = Actor(userID: user, sessionID: session, role: role)
        case .hints:
            guard value.count >= 8 else { return false }
            hints = Hints(inFlight: value.integer(at: 0), handlerMicroseconds: value.integer(at: 4))
        }
        switch field {
        case .messageID: return messageID != nil
        case .idempotencyKey: return idempotencyKey != nil
        case .traceparent: return traceparent != nil
        case .clientAddress: return clientAddress != nil
        default: return true
        }
    }
}

extension [UInt8] {
    fileprivate mutating func appendInteger(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func append(
        _ field: FrameHeader.Field, _ value: [UInt8], and more: (inout [UInt8]) -> Void = { _ in }
    ) {
        append(field.rawValue)
        let lengthAt = count
        appendInteger(UInt16(0))
        self += value
        more(&self)
        let length = count - lengthAt - 2
        precondition(length <= Int(UInt16.max), "a field of a frame holds 65,535 bytes")
        self[lengthAt] = UInt8(length & 0xff)
        self[lengthAt + 1] = UInt8(length >> 8)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// Visible ASCII and spaces only: what stands in a header is nothing else.
    fileprivate func text(_ range: Range<Int>, atMost limit: Int) -> String? {
        guard !range.isEmpty, range.count <= limit, self[range].allSatisfy({ (0x20...0x7e).contains($0) }) else {
            return nil
        }
        return String(decoding: self[range], as: UTF8.self)
    }
}
