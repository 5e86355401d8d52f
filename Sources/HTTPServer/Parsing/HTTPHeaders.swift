/// Header fields in the order of the message. Upper and lower case make no difference in names.
///
/// All names and values lie in one array, so most messages have two allocations. A look-up of a name compares lengths
/// and bytes. Only a value that is asked for becomes a `String`.
package struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    /// Where a field lies in `bytes`: its name up to `middle`, its value up to `end`.
    private struct Slot {
        let start, middle, end: Int
    }

    /// UTF-8. The bytes of a field that was replaced stay.
    private var bytes: [UInt8] = []
    private var slots: [Slot] = []

    /// Makes headers without a field.
    package init() {}

    /// Makes headers with these fields.
    package init(dictionaryLiteral fields: (String, String)...) {
        for (name, value) in fields { append(name, value) }
    }

    /// The number of fields. A name may have more than one.
    package var count: Int { slots.count }

    /// Adds a field after the others.
    package mutating func append(_ name: String, _ value: String) {
        var (name, value) = (name, value)
        name.withUTF8 { name in value.withUTF8 { append(name.span, $0.span) } }
    }

    /// Adds a field of UTF-8 after the others.
    mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>) {
        // Most messages have at most eight fields, so the arrays need not grow.
        if slots.isEmpty {
            slots.reserveCapacity(8)
            bytes.reserveCapacity(512)
        }
        let start = bytes.count
        name.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        let middle = bytes.count
        value.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        slots.append(Slot(start: start, middle: middle, end: bytes.count))
    }

    /// Replaces all fields of that name with one.
    package mutating func set(_ name: String, _ value: String) {
        while let place = place(of: name) { slots.remove(at: place) }
        append(name, value)
    }

    /// The value of the first field of that name.
    package func first(_ name: String) -> String? { place(of: name).map(value) }

    /// The values of all fields of that name.
    package func all(_ name: String) -> [String] {
        var (values, start) = ([String](), 0)
        while let place = place(of: name, from: start) {
            values.append(value(at: place))
            start = place + 1
        }
        return values
    }

    /// The comma-separated tokens of all fields of that name, in lower case.
    package func tokens(_ name: String) -> [String] {
        all(name).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map {
                String(decoding: HTTPGrammar.trimmed(Array($0)[...]), as: UTF8.self).lowercased()
            }
        }
    }

    /// Whether there is a field of that name.
    func has(_ name: UnsafeBufferPointer<UInt8>) -> Bool { place(of: name.span, from: 0) != nil }

    /// Calls the closure with the UTF-8 of each field.
    func forEach(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void) {
        bytes.withUnsafeBufferPointer { bytes in
            for slot in slots {
                body(bytes.extracting(slot.start..<slot.middle), bytes.extracting(slot.middle..<slot.end))
            }
        }
    }

    private func value(at place: Int) -> String {
        let slot = slots[place]
        return bytes.withUnsafeBufferPointer { String(decoding: $0[slot.middle..<slot.end], as: UTF8.self) }
    }

    /// The place of the first field of that name, from a place on.
    private func place(of name: String, from start: Int = 0) -> Int? {
        var name = name
        return name.withUTF8 { place(of: $0.span, from: start) }
    }

    private func place(of name: Span<UInt8>, from start: Int) -> Int? {
        let bytes = bytes.span
        let slots = slots.span
        for place in start..<slots.count where slots[place].middle - slots[place].start == name.count {
            let offset = slots[place].start
            var index = 0
            while index < name.count,
                HTTPGrammar.lowercase(bytes[offset + index]) == HTTPGrammar.lowercase(name[index])
            { index += 1 }
            if index == name.count { return place }
        }
        return nil
    }
}

extension HTTPHeaders: Equatable {
    /// Whether both have the same fields in the same order, and write their names alike.
    package static func == (one: HTTPHeaders, other: HTTPHeaders) -> Bool {
        one.slots.count == other.slots.count
            && zip(one.slots, other.slots).allSatisfy {
                one.bytes[$0.start..<$0.middle] == other.bytes[$1.start..<$1.middle]
                    && one.bytes[$0.middle..<$0.end] == other.bytes[$1.middle..<$1.end]
            }
    }
}
