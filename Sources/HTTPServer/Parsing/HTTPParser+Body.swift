extension HTTPParser {
    mutating func readSizedBody(_ count: Int) throws(HTTPRefusal) -> Step {
        guard bodyCount + count <= bodyLimit else { throw .bodyTooLarge(limit: bodyLimit) }
        let left = count - takeBody(count)
        guard left > 0 else { return finishBody() }
        state = .sizedBody(left)
        return finishPart()
    }

    /// Reads `chunk-size [";" extension]`. Extensions are skipped, up to `HTTPLimits.chunkExtensionBytes`.
    mutating func readChunkSize() throws(HTTPRefusal) -> Step {
        let allowance = limits.chunkExtensionBytes - extensionBytes
        guard let place = try nextLine(longest: allowance + 10, orElse: .malformed("A chunk's size line is too long."))
        else { return .starved }
        let line = buffer[place]
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        guard (1...8).contains(digits.count) else { throw .malformed("A chunk's size is not a hexadecimal number.") }
        var size = 0
        for byte in digits {
            guard let digit = HTTPGrammar.hexDigit(byte) else {
                throw .malformed("A chunk's size is not a hexadecimal number.")
            }
            size = size << 4 | digit
        }
        let rest = line[digits.endIndex...]
        guard rest.allSatisfy(HTTPGrammar.isFieldContent) else {
            throw .malformed("A chunk extension has a control character.")
        }
        extensionBytes += rest.count
        guard size <= bodyLimit - bodyCount else { throw .bodyTooLarge(limit: bodyLimit) }
        state = size == 0 ? .trailers : .chunkData(size)
        return .again
    }

    mutating func readChunkData(_ count: Int) -> Step {
        let left = count - takeBody(count)
        state = left == 0 ? .chunkEnd : .chunkData(left)
        return left == 0 ? .again : finishPart()
    }

    mutating func readChunkEnd() throws(HTTPRefusal) -> Step {
        guard bufferedCount >= 2 else { return .starved }
        guard take(2).elementsEqual([HTTPGrammar.cr, HTTPGrammar.lf]) else {
            throw .malformed("A chunk is longer than its size.")
        }
        state = .chunkSize
        return .again
    }

    /// Reads a trailer and discards it. The grammar and the limits of headers hold for it.
    mutating func readTrailer() throws(HTTPRefusal) -> Step {
        guard let line = try nextHeadLine() else { return .starved }
        guard !line.isEmpty else { return finishBody() }
        let buffer = buffer
        try head.readField(buffer.span.extracting(line), limit: limits.headerCount)
        return .again
    }
}
