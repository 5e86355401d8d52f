import Foundation
import Testing

@testable import JSONText

@Suite("strict reader") struct JSONDocumentTests {
    @Test(
        "refused, with the reason and the place",
        arguments: [
            ("", JSONTextError.Code.unexpectedEnd, 0), ("{", .unexpectedEnd, 1),
            ("{\"a\":1,}", .unexpectedCharacter, 7),
            ("[1,]", .unexpectedCharacter, 3), ("{\"a\":1,\"a\":2}", .duplicateMember, 7),
            ("{\"a\":1,\"\\u0061\":2}", .duplicateMember, 7), ("{\"\u{e9}\":1,\"e\u{301}\":2}", .duplicateMember, 8),
            ("[01]", .unexpectedCharacter, 2),
            ("[1.]", .invalidNumber, 3),
            ("[-]", .invalidNumber, 2), ("[1e]", .invalidNumber, 3), ("[1e999]", .invalidNumber, 1),
            ("[+1]", .unexpectedCharacter, 1), ("[NaN]", .unexpectedCharacter, 1), ("1 2", .trailingText, 2),
            ("\u{feff}1", .unexpectedCharacter, 0), ("\"\\u0000\"", .nullCharacter, 1),
            ("\"\u{0}\"", .nullCharacter, 1),
            ("\"\t\"", .controlCharacter, 1), ("\"\\x\"", .invalidEscape, 1), ("\"\\ud800\"", .invalidEscape, 1),
            ("\"\\udc00\"", .invalidEscape, 1), ("\"\\ud800\\u0041\"", .invalidEscape, 1), ("tru", .unexpectedEnd, 3),
            ("{a:1}", .unexpectedCharacter, 1), ("{\"a\" 1}", .unexpectedCharacter, 5),
            ("'a'", .unexpectedCharacter, 0),
            ("[1 2]", .unexpectedCharacter, 3), ("\"abc", .unexpectedEnd, 4), ("// c\n1", .unexpectedCharacter, 0),
        ])
    func refused(text: String, code: JSONTextError.Code, offset: Int) {
        let error = #expect(throws: JSONTextError.self) { try JSONDocument(Array(text.utf8)) }
        #expect(error?.code == code)
        #expect(error?.offset == offset)
    }

    @Test(
        "malformed UTF-8 is refused",
        arguments: [
            [0xff], [0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xc3], [0x80],
            [0xf0, 0x8f, 0xbf, 0xbf],
        ] as [[UInt8]])
    func malformedUTF8(bytes: [UInt8]) {
        let error = #expect(throws: JSONTextError.self) { try JSONDocument([0x22] + bytes + [0x22]) }
        #expect(error?.code == .invalidUTF8)
    }

    @Test func placesAreLinesAndColumns() {
        let error = #expect(throws: JSONTextError.self) { try JSONDocument(Array("{\n  \"a\": 1,\n  \"b\" 2}".utf8)) }
        #expect(error?.line == 3)
        #expect(error?.column == 7)
    }

    @Test func columnsCountCharactersAsEditorsDo() {
        let text = Array("[\n\"å🔥\" 1]".utf8)
        let error = #expect(throws: JSONTextError.self) { try JSONDocument(text) }
        #expect(error?.line == 2 && error?.column == 6)
        #expect(error?.excerpt(of: text) == ["  \"å🔥\" 1]", "       ^"])
    }

    @Test func ofALongLineTheMiddleIsShown() {
        let text = Array((String(repeating: "a", count: 100) + "b" + String(repeating: "c", count: 100)).utf8)
        let error = JSONTextError(code: .unexpectedCharacter, offset: 100, line: 1, column: 101)
        let shown = error.excerpt(of: text)
        #expect(shown[0] == "  …\(String(repeating: "a", count: 59))b\(String(repeating: "c", count: 39))")
        #expect(shown[1] == "\(String(repeating: " ", count: 62))^")
        let end = JSONTextError(code: .unexpectedEnd, offset: 2, line: 2, column: 1)
        #expect(end.excerpt(of: Array("[\n".utf8)) == ["  ", "  ^"])
    }

    @Test func depthAndValuesAreBounded() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        _ = try JSONDocument(nested(16))
        #expect(throws: JSONTextError.self) { try JSONDocument(nested(17)) }
        let many = Array(("[" + Array(repeating: "1", count: 4095).joined(separator: ",") + "]").utf8)
        _ = try JSONDocument(many)
        #expect(throws: JSONTextError.self) { try JSONDocument(Array("[".utf8) + many + Array(",1]".utf8)) }
    }

    @Test func manyMembersAreLookedAtForDuplicates() throws {
        let members = (0..<40).map { "\"m\($0)\":\($0)" }
        _ = try JSONDocument(Array("{\(members.joined(separator: ","))}".utf8))
        let twice = members + ["\"m3\":1"]
        let error = #expect(throws: JSONTextError.self) {
            try JSONDocument(Array("{\(twice.joined(separator: ","))}".utf8))
        }
        #expect(error?.code == .duplicateMember)
    }

    /// As strings, they would take the square of their length.
    @Test func longNamesAreComparedByTheirBytes() throws {
        let name = String(repeating: "\u{301}", count: 20_000) + String(repeating: "\u{316}", count: 20_000)
        _ = try JSONDocument(Array(#"{"\#(name)":1,"\#(name)a":2}"#.utf8))
        let error = #expect(throws: JSONTextError.self) {
            try JSONDocument(Array(#"{"\#(name)":1,"\#(name)":2}"#.utf8))
        }
        #expect(error?.code == .duplicateMember)
    }

    @Test func nodesSeeTheirValues() throws {
        let text =
            #"{"s":"a\n\u00e9\ud83d\ude00/","n":-12,"f":1.50,"big":9223372036854775808,"t":true,"z":null,"a":[1,[2],{}]}"#
        let root = try JSONDocument(Array(text.utf8)).root
        #expect(root["s"]?.string == "a\né😀/")
        #expect(root["n"]?.integer == -12)
        #expect(root["f"]?.integer == nil)
        #expect(root["f"]?.number == 1.5)
        #expect(root["big"]?.integer == nil)
        #expect(root["big"]?.number == 9.223372036854775808e18)
        #expect(root["t"]?.bool == true)
        #expect(root["z"]?.isNull == true)
        #expect(root["a"]?.elements.count == 3)
        #expect(root["none"] == nil)
        #expect(String(decoding: root["f"]?.rawText ?? [], as: UTF8.self) == "1.50")
    }

    /// Foundation's reader is an independent oracle for the value of what ours accepts; ours accepts less.
    @Test func mutatedTextsNeverCrashAndAgreeWithFoundation() throws {
        var generator = SplitMix(state: 42)
        let seed = Array(#"{"a":[1,2.5e3,-0,true,null],"b":{"c":"x\u00e9\"\\","d":"åäö😀"},"e":""}"#.utf8)
        var accepted = 0
        for _ in 0..<20_000 {
            var text = seed
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<text.count, using: &generator)
                switch UInt8.random(in: 0...2, using: &generator) {
                case 0: text[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: text.remove(at: index)
                default: text.insert(text[Int.random(in: 0..<text.count, using: &generator)], at: index)
                }
            }
            guard let document = try? JSONDocument(text) else { continue }
            accepted += 1
            let oracle = try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
            #expect(same(document.root.value, oracle), "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(accepted > 500)
    }

    private func same(_ value: JSONValue, _ oracle: Any) -> Bool {
        switch value {
        case .null: oracle is NSNull
        case .bool(let value): (oracle as? Bool) == value
        case .integer(let value): (oracle as? NSNumber)?.int64Value == value
        case .number(let value): (oracle as? NSNumber)?.doubleValue == value
        case .string(let value): (oracle as? String) == value
        case .array(let values):
            (oracle as? [Any]).map { $0.count == values.count && zip(values, $0).allSatisfy { same($0, $1) } } ?? false
        case .object(let members):
            (oracle as? [String: Any]).map { other in
                other.count == members.count
                    && members.allSatisfy { key, value in other[key].map { same(value, $0) } ?? false }
            } ?? false
        }
    }
}

/// A small generator with a fixed seed, so that a failure can be repeated. Source: S. Vigna, "splitmix64".
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
