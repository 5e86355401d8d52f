extension JSONTextError {
    /// The line with the error, and a mark below the character, as compilers show them. A long line is cut around the
    /// character.
    ///
    /// - Parameter text: the text that was read.
    public func excerpt(of text: [UInt8]) -> [String] {
        let newline = UInt8(ascii: "\n")
        let start = text[..<offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = text[offset...].firstIndex(of: newline) ?? text.endIndex
        let (before, after) = (Self.shown(text[start..<offset]), Self.shown(text[offset..<end]))
        let lead = before.count > 60 ? "…\(before.suffix(59))" : before
        return ["  \(lead)\(after.prefix(40))", "  \(String(repeating: " ", count: lead.count))^"]
    }

    /// Each control character is replaced by one space.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
        return String(String.UnicodeScalarView(scalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
