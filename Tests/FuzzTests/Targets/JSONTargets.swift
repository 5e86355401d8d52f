import Foundation

@testable import JSONText

/// Foundation reads the same content from each text that we accept. The canonical form has the same content, too. If a
/// text is refused, the place of the error can be shown.
func checkJSON(_ bytes: [UInt8]) throws(BrokenPromise) {
    let document: JSONDocument
    do throws(JSONTextError) {
        document = try JSONDocument(bytes)
    } catch {
        try promise((0...bytes.count).contains(error.offset), "The error is outside of the text.")
        try promise(error.excerpt(of: bytes).count == 2, "The place of the error cannot be shown.")
        return
    }
    let value = document.root.value
    try promise(isWhole(document.root, value), "A part of the text is lost in its value.")
    let foundation = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    try promise(foundation.map { isRead($0, as: value) } ?? false, "Foundation reads something else.")
    let canonical = CanonicalJSON.bytes(of: value)
    for text in [canonical, Array(PrettyJSON.text(of: value).utf8)] {
        guard let again = try? JSONValue.parse(text) else {
            throw BrokenPromise(description: "What is written cannot be read.")
        }
        try promise(isSame(again, value), "A value changes when it is written.")
        try promise(CanonicalJSON.bytes(of: again) == canonical, "The canonical form has two forms.")
    }
}

/// A number has the value that C reads, and the text of any double has the value of that double.
func checkNumber(_ bytes: [UInt8]) throws(BrokenPromise) {
    if let node = try? JSONDocument(bytes).root, let number = node.number {
        let text = String(decoding: node.rawText, as: UTF8.self)
        try promise(number == strtod(text, nil), "C reads another number.")
        try promise(node.integer == nil || node.integer == Int64(text), "The integer is another one.")
        try checkText(of: number)
    }
    guard bytes.count >= 8 else { return }
    let number = Double(bitPattern: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    if number.isFinite { try checkText(of: number) }
}

private func checkText(of number: Double) throws(BrokenPromise) {
    let text = CanonicalJSON.bytes(of: .number(number))
    let again = try? JSONValue.parse(text).doubleValue
    try promise(again == number, "A number changes when it is written.")
    try promise(text.count <= 25, "The text of a number is too long.")
}

/// Whether each value of the text is in the copy, and can be found by its name.
private func isWhole(_ node: JSONNode, _ value: JSONValue) -> Bool {
    switch value {
    case .array(let values):
        let elements = node.elements
        return elements.count == values.count && zip(elements, values).allSatisfy(isWhole)
    case .object(let values):
        let members = node.members
        return members.count == values.count && node.memberCount == values.count
            && members.allSatisfy { name, member in
                node[name]?.rawText == member.rawText && values[name].map { isWhole(member, $0) } ?? false
            }
    case .string(let text): return node.string.map { Array($0.utf8) == Array(text.utf8) } ?? false
    default: return true
    }
}

/// Whether what Foundation has read is the value. It reads a long number as a decimal, and rounds once for each of up to 127
/// multiplications by ten. So the exact comparison is that with C, in `number`.
private func isRead(_ read: Any, as value: JSONValue) -> Bool {
    switch value {
    case .null: return read is NSNull
    case .bool(let value): return read as? Bool == value
    case .integer, .number:
        guard let read = (read as? NSNumber)?.doubleValue, let value = value.doubleValue else { return false }
        return abs(read - value) <= abs(value) * 1e-13
    case .string(let value): return (read as? String).map { Array($0.utf8) == Array(value.utf8) } ?? false
    case .array(let values):
        return (read as? [Any]).map { $0.count == values.count && zip($0, values).allSatisfy(isRead) } ?? false
    case .object(let values):
        guard let read = read as? [String: Any], read.count == values.count else { return false }
        return values.allSatisfy { name, value in read[name].map { isRead($0, as: value) } ?? false }
    }
}

/// Whether two values are the same, where 1 and 1.0 are.
private func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
    switch (a, b) {
    case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy(isSame)
    case (.object(let a), .object(let b)):
        a.count == b.count && a.allSatisfy { name, value in b[name].map { isSame(value, $0) } ?? false }
    case (.string(let a), .string(let b)): Array(a.utf8) == Array(b.utf8)
    case (.integer(let a), .integer(let b)): Double(a) == Double(b)
    default: a == b || a.doubleValue.map { $0 == b.doubleValue } ?? false
    }
}
