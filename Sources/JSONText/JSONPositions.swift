/// Finds the place of a JSON Pointer (RFC 6901) in a text.
public struct JSONPositions: Sendable {
    private let document: JSONDocument
    /// Where each line begins.
    private let starts: [Int]

    /// - Parameter document: the text that the pointers are into.
    public init(_ document: JSONDocument) {
        self.document = document
        starts = [0] + document.bytes.indices.filter { document.bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    }

    /// The value's own place, or, of something that is missing, that of what it is missing in. Both count from 1, columns in
    /// Unicode scalars.
    public func position(of pointer: String) -> (line: Int, column: Int) {
        var node = document.root
        for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
            let elements = node.elements
            guard let child = node[name] ?? Int(name).flatMap({ elements.indices.contains($0) ? elements[$0] : nil })
            else { break }
            node = child
        }
        let offset = node.rawText.startIndex
        let line = starts.lastIndex { $0 <= offset } ?? 0
        return (line + 1, JSONDocument.scalars(in: document.bytes[starts[line]..<offset]) + 1)
    }
}
