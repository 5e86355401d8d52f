import Foundation
import JSONText
import Testing

@Suite("RFC 8785") struct CanonicalJSONTests {
    /// Source: RFC 8785, appendix B (IEEE 754 bits and their text).
    @Test(
        "sample numbers",
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"), (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"), (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"), (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"), (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"), (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"), (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"), (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"), (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"), (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] as [(UInt64, String)])
    func number(bits: UInt64, text: String) {
        #expect(String(decoding: CanonicalJSON.bytes(of: .number(Double(bitPattern: bits))), as: UTF8.self) == text)
    }

    /// Source: RFC 8785, sections 3.2.2 and 3.2.3.
    @Test func sampleTexts() throws {
        let first =
            #"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#
        let canonical =
            #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        #expect(
            String(decoding: CanonicalJSON.bytes(of: try JSONValue.parse(Array(first.utf8))), as: UTF8.self)
                == canonical)
        let keys =
            #"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#
        let text = String(decoding: CanonicalJSON.bytes(of: try JSONValue.parse(Array(keys.utf8))), as: UTF8.self)
        let order = ["Carriage", "One", "Control", "Latin", "Euro", "Emoji", "Hebrew"]
        let places = order.compactMap { text.range(of: $0)?.lowerBound }
        #expect(places.count == 7)
        #expect(places == places.sorted())
    }

    /// Strings are looked at eight bytes at a time, so each byte stands at each place of a long one. Foundation escapes alike.
    @Test func stringEscapesAgreeWithFoundationAtEveryPlace() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        for byte in (0..<128).map(UInt8.init) {
            for length in [1, 7, 8, 9, 17] {
                for place in 0..<length {
                    var bytes = Array("aé☃~!0[aé☃~!0".utf8.prefix(length))
                    bytes[place] = byte
                    let string = String(decoding: bytes, as: UTF8.self)
                    #expect(try CanonicalJSON.bytes(of: .string(string)) == Array(encoder.encode(string)))
                }
            }
        }
    }

    @Test func readingBackGivesTheSameValue() throws {
        var generator = SplitMix(state: 7)
        for _ in 0..<5000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite, value != 0 else { continue }
            let text = CanonicalJSON.bytes(of: .number(value))
            #expect(try JSONValue.parse(text).doubleValue == value)
        }
    }
}
